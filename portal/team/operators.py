"""Invitations by operators, who are not members: from the command line and the admin."""

from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from foundation.addresses.mail_addresses import mail_address
from portal.models import Account, Invitation
from portal.team import actions, emails


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """An invitation; the operator passes ``link`` on, unless it is empty: then it was sent by e-mail."""

    invitation: Invitation
    link: str
    is_new: bool


@transaction.atomic
def invite(account: Account, email: str, role: str, *, by: str, origin: str) -> Invited | None:
    """Invite a person by e-mail, or return the invitation that is open already; return None for a member.

    ``by`` is the name in the e-mail; ``origin`` begins the link if PORTAL_BASE_URL is not set. Raises
    ValidationError and stores no invitation, also if the mail server rejects the e-mail.
    """
    email = mail_address(email)
    if account.memberships.filter(user__email__iexact=email).exists():
        return None
    earlier = account.invitations.open(at=timezone.now()).filter(email=email, role=role).first()
    invitation = earlier or actions.invite(
        account, email, role, by=None, was_emailed=bool(settings.EMAIL_URL)
    )
    link = f"{settings.PORTAL_BASE_URL or origin}{reverse('portal:join', args=[invitation.token])}"
    if not invitation.was_emailed:
        return Invited(invitation=invitation, link=link, is_new=earlier is None)
    if earlier is None:
        try:
            emails.send_invitation(invitation, link, by=by)
        except OSError as error:
            raise ValidationError(
                _("The e-mail to %(email)s could not be sent, and nothing was changed. Try again later.")
                % {"email": email}
            ) from error
    return Invited(invitation=invitation, link="", is_new=earlier is None)
