"""E-mails about a changed password or second factor, so that the person notices a thief."""

import logging
from functools import partial
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.web.background import run_for_member
from portal.emails import with_link

logger = logging.getLogger(__name__)

# Subjects by template of allauth. Its own e-mails are not sent: they contain the browser's IP address.
_SUBJECTS = {
    "account/email/password_changed": gettext_lazy("Your password was changed"),
    "account/email/password_reset": gettext_lazy("Your password was changed"),
    "account/email/password_set": gettext_lazy("Your password was changed"),
    "mfa/email/totp_activated": gettext_lazy("An authenticator app was added"),
    "mfa/email/totp_deactivated": gettext_lazy("The authenticator app was removed"),
    "mfa/email/recovery_codes_generated": gettext_lazy("New recovery codes were made"),
    "mfa/email/webauthn_added": gettext_lazy("A passkey was added"),
    "mfa/email/webauthn_removed": gettext_lazy("A passkey was removed"),
}


class _Recipient(NamedTuple):
    name: str
    email: str
    language: str


def send_changed(person: User, change: str, *, origin: str) -> None:
    """Send an e-mail about ``change``, a template of allauth, after the response; only log failures."""
    if settings.EMAIL_URL and person.email and change in _SUBJECTS:
        to = _Recipient(person.get_username(), person.email, _language_of(person))
        run_for_member(partial(_send, to, change, origin + reverse("account")))


def _language_of(person: User) -> str:
    if not settings.ENABLE_PORTAL:
        return settings.LANGUAGE_CODE
    from portal.models.languages import language_of

    return language_of(person.pk)


def _send(to: _Recipient, change: str, link: str) -> None:
    with translation.override(to.language):
        subject = str(_SUBJECTS[change])
        context = {"change": subject, "username": to.name, "link": link}
        text = render_to_string("account/email/changed.txt", context).strip() + "\n"
        try:
            with_link.send(subject, text, to=to.email, link=link, button=_("Open your account"))
        except OSError as error:
            logger.warning("The mail server refused an e-mail about a sign-in: %s", type(error).__name__)
