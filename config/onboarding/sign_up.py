"""Sign-up: send a link by e-mail, and create an account for the person who opens it.

The link is signed, not stored, and creates one account.
"""

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.db import IntegrityError, transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from audit.recording import record
from config.operations.portal_secrets import give_secret
from dashboard_api import models as api
from dashboard_api.billing import entitlements
from portal import models as portal
from portal.emails import with_link
from portal.team.actions import record_change
from portal.team.people import AddressTaken, add_person

logger = logging.getLogger(__name__)

LINK_LIFETIME = timedelta(days=1)
INVITATION_LIFETIME = timedelta(days=14)
TRIAL_PLAN = "trial"  # the slug of the plan
DEFAULT_TRIAL_DAYS = 14
_SALT = "config.sign_up"


class LinkUsed(Exception):
    """The link, or another one to the same address, has created an account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignUpLink:
    """A link: the address that got it, and the reference of the account that it creates."""

    email: str
    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Length of a new account's trial, and its number of websites."""

    days: int
    websites: int


def trial() -> Trial:
    """Return the trial of the plan named "trial"; without such a plan, 14 days and one website."""
    plan = api.Plan.objects.newest(TRIAL_PLAN)
    if plan is None:
        return Trial(days=DEFAULT_TRIAL_DAYS, websites=1)
    return Trial(days=plan.trial_days or DEFAULT_TRIAL_DAYS, websites=plan.terms.websites)


def new_link(email: str, *, lifetime: timedelta = LINK_LIFETIME) -> str:
    """Return the path of a link for this address."""
    until = int((timezone.now() + lifetime).timestamp())
    token = signing.dumps([email, until], salt=_SALT)
    return reverse("new_account", args=[token])


def read_link(token: str) -> SignUpLink | None:
    """Return the contents of the link; None if it has expired or was not signed here."""
    try:
        email, until = signing.loads(token, salt=_SALT)
    except signing.BadSignature:
        return None
    if timezone.now().timestamp() > until:
        return None
    number = salted_hmac(_SALT, token, algorithm="sha256").hexdigest()[:16]
    return SignUpLink(email=email, ref=f"acct_{number}")


def has_user(email: str) -> bool:
    """Return whether a user has this address."""
    return User.objects.filter(email__iexact=email).exists()


@sensitive_variables()
def create_account(person: User, link: SignUpLink, *, name: str) -> portal.Account:
    """Store ``person``, and create the account that they own; raises LinkUsed and NameTaken."""
    try:
        with transaction.atomic():
            return _create(person, link, name)
    except (AddressTaken, IntegrityError) as error:
        raise LinkUsed from error


@sensitive_variables()
def _create(person: User, link: SignUpLink, name: str) -> portal.Account:
    add_person(person, link.email)
    account = api.Account(ref=link.ref, name=name)
    account.full_clean(validate_unique=False)  # a second account by the same link is an IntegrityError
    account.save()
    today = timezone.now().date()
    terms = trial()
    plan = {"plan": TRIAL_PLAN, "status": api.Entitlement.Status.TRIALING, "sites_limit": terms.websites}
    dates = {"starts_on": today, "ends_on": today + timedelta(days=terms.days)}
    entitlements.change(account, plan | dates, by=person.get_username())
    portal_account = portal.Account(ref=link.ref, name=name)
    give_secret(portal_account, account, by=person.get_username())
    portal_account.memberships.create(user=person, role=portal.Membership.Role.OWNER)
    joined = portal.MembershipChange.Action.JOINED
    record_change(portal_account, joined, person.get_username(), by=person, role=portal.Membership.Role.OWNER)
    record("customer.signed_up", account, by=person)
    return portal_account


def send_link(email: str, *, origin: str, language: str) -> None:
    """Send a link to this address, or tell the person with this address that they can sign in already.

    PostgreSQL matches similar letters, such as the Turkish dotless i and I, so the e-mail with the user name
    goes to the stored address, not to the typed one.
    """
    person = User.objects.filter(email__iexact=email, is_active=True).first()
    with translation.override(language):
        if person is not None:
            subject, template = _("You have an account already"), "known_email.txt"
            button = _("Sign in")
            context = {"name": person.get_username(), "link": origin + reverse("account_login")}
            email = person.email
        else:
            subject, template = _("Confirm your e-mail address"), "link_email.txt"
            button = _("Create the account")
            context = {"name": "", "link": origin + new_link(email)}
        try:
            _send(subject, template, context, to=email, button=button)
        except OSError as error:
            logger.warning("The mail server refused a link to a new account: %s", type(error).__name__)


def send_invitation(email: str, link: str) -> None:
    """Send the link of an invitation; raises OSError if the mail server does not accept it."""
    with translation.override(settings.LANGUAGE_CODE):
        subject, button = _("Your account on the Threat Dashboard"), _("Create the account")
        _send(subject, "invited_email.txt", {"link": link}, to=email, button=button)


def _send(subject: str, template: str, context: dict[str, str], *, to: str, button: str) -> None:
    text = render_to_string(f"sign_up/{template}", context).strip() + "\n"
    with_link.send(subject, text, to=to, link=context["link"], button=button)
