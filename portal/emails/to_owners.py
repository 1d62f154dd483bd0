"""E-mails to owners, each sent at least once, always with the same Message-ID.

Owners get them regardless of their notification settings, because they are about access to the portal.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from smtplib import SMTPRecipientsRefused
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.db.models import Q
from django.template.loader import render_to_string
from django.utils import translation

from foundation.operations.storage import is_storage_fault
from portal.models import Account, ClaimEmail, Membership, Subscription
from portal.models.languages import language_of
from portal.models.members import MembershipQuerySet
from signed_api.errors import CallError

logger = logging.getLogger(__name__)
RESEND_AFTER = timedelta(minutes=15)  # longer than it takes to send one e-mail


@dataclass(slots=True)
class Outcome:
    """The number of e-mails sent, the addresses that the mail server refused, and the failures."""

    sent: int = 0
    refused: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The content of an e-mail; its button opens the page at ``path``."""

    subject: str
    text: str
    button: str
    path: str


def owners() -> MembershipQuerySet:
    """Return the active owners with an e-mail address."""
    return Membership.objects.owners().filter(user__is_active=True).exclude(user__email="")


def for_each_account(act: Callable[[Account], None], outcome: Outcome) -> None:
    """Call ``act`` for every account with an owner; note a failure and continue."""
    for account in Account.objects.filter(memberships__in=owners()).distinct():
        try:
            act(account)
        except CallError as error:
            outcome.failures.append(f"{account.ref}: {type(error).__name__}: {error}")
        except Exception as error:
            if is_storage_fault(error):
                raise
            logger.exception("%s: the e-mails to owners failed", account.ref)
            outcome.failures.append(f"{account.ref}: {type(error).__name__}: {error}")


def send(account: Account, key: str, words: Callable[[], Words], outcome: Outcome, now: datetime) -> None:
    """Send an e-mail to each owner of the account who did not get it; ``key`` is the same for each attempt.

    ``words`` is called in the owner's language.
    """
    connection = get_connection()
    for owner in owners().filter(account=account).select_related("user"):
        email, _is_new = ClaimEmail.objects.get_or_create(membership=owner, key=key)
        if email.sent_at or not _claim(email, now):
            continue
        try:
            connection.send_messages([compose(owner, account, key, words)])
        except (OSError, ValueError) as error:
            ClaimEmail.objects.filter(pk=email.pk).update(claimed_at=None)
            problems = outcome.refused if isinstance(error, SMTPRecipientsRefused) else outcome.failures
            problems.append(f"{owner.user}: {type(error).__name__}: {error}")
        else:
            ClaimEmail.objects.filter(pk=email.pk).update(sent_at=now)
            outcome.sent += 1


def send_now(account: Account, key: str, words: Callable[[], Words], *, without: str) -> None:
    """Send an e-mail to each owner of the account except the user ``without``; only log failures."""
    to = list(owners().filter(account=account).exclude(user__username=without).select_related("user"))
    if not to or not settings.EMAIL_URL:
        return
    connection = get_connection()
    try:
        connection.open()
    except OSError as error:
        logger.warning("%s: e-mails to owners were not sent: %s", account.ref, type(error).__name__)
        return
    for owner in to:
        try:
            connection.send_messages([compose(owner, account, key, words)])
        except (OSError, ValueError) as error:
            logger.warning("%s: an e-mail to an owner was not sent: %s", account.ref, type(error).__name__)
    connection.close()


def _claim(email: ClaimEmail, now: datetime) -> bool:
    """Claim the e-mail for this process; return False if another process has it."""
    free = Q(claimed_at=None) | Q(claimed_at__lt=now - RESEND_AFTER)
    return bool(ClaimEmail.objects.filter(free, pk=email.pk, sent_at=None).update(claimed_at=now))


def compose(
    owner: Membership, account: Account, key: str, words: Callable[[], Words]
) -> EmailMultiAlternatives:
    """Return the e-mail in the owner's language."""
    language = Subscription.of(owner).language or language_of(owner.user_id)
    with translation.override(language):
        content = words()
        url = f"{settings.PORTAL_BASE_URL}{content.path}"
        context = {"subject": content.subject, "words": content, "url": url}
        context |= {"account": account, "language": language}
        name = uuid5(NAMESPACE_URL, f"{url}{owner.pk}:{key}")
        message = EmailMultiAlternatives(
            subject=content.subject,
            body=render_to_string("portal/owners/email.txt", context),
            to=[owner.user.email],
            headers={
                "Message-ID": f"<{name}@{urlsplit(settings.PORTAL_BASE_URL).hostname}>",
                "Auto-Submitted": "auto-generated",
            },
        )
        message.attach_alternative(render_to_string("portal/owners/email.html", context), "text/html")
    return message
