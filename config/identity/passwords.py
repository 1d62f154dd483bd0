"""Forms that change or reset a password, and the e-mail with the reset link.

No response shows whether an e-mail address is known.
"""

import logging
from datetime import timedelta
from functools import partial
from typing import Any

from allauth.account import forms
from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from config.models import Attempts
from config.web.background import run_later
from config.web.errors import too_many_requests
from foundation.addresses.mail_addresses import one_spelling, with_address
from portal.emails import with_link
from portal.pages.forms import ChosenPassword
from portal.pages.urls import portal_origin

logger = logging.getLogger(__name__)

PER_SENDER, PER_ADDRESS = 5, 3  # links in an hour, from one IP address and to one e-mail address
PERIOD = timedelta(hours=1)


class ChangePasswordForm(ChosenPassword, forms.ChangePasswordForm):
    """Form of a signed-in person."""


class SetPasswordForm(ChosenPassword, forms.SetPasswordForm):
    """Form of a signed-in person who has no password yet."""


class ResetPasswordKeyForm(ChosenPassword, forms.ResetPasswordKeyForm):
    """Form behind the reset link."""


class ResetPasswordForm(forms.ResetPasswordForm):
    """Form that requests a reset link, without looking up the address."""

    def clean_email(self) -> str:
        """Return the address in lower case."""
        email: str = self.cleaned_data["email"]
        return email.lower()

    def save(self, request: HttpRequest, **_: Any) -> str:
        """Send the link after the response; raises ImmediateHttpResponse (429) after too many requests."""
        email: str = self.cleaned_data["email"]
        limits = {f"reset from {get_ip(request)}": PER_SENDER, f"reset of {one_spelling(email)}": PER_ADDRESS}
        if not Attempts.objects.allow(limits, period=PERIOD, now=timezone.now()):
            raise ImmediateHttpResponse(too_many_requests(request, seconds=int(PERIOD.total_seconds())))
        language = translation.get_language() or settings.LANGUAGE_CODE
        run_later(partial(send_links, email, base_url=portal_origin(request), language=language))
        return email


def send_links(email: str, *, base_url: str, language: str) -> None:
    """Send an e-mail to each active person with the address ``email``, in any case."""
    for person in User.objects.filter(with_address(email), is_active=True):
        # Databases also match similar letters, such as a dotless i for i: compare again.
        if person.email.lower() in (email.lower(), one_spelling(email)):
            with translation.override(language):
                _send(person, base_url)


def _send(person: User, base_url: str) -> None:
    path_arguments = {
        "uidb36": user_pk_to_url_str(person),
        "key": default_token_generator.make_token(person),
    }
    link = base_url + reverse("account_reset_password_from_key", kwargs=path_arguments)
    context = {"username": person.get_username(), "password_reset_url": link}
    subject, message = (
        render_to_string(f"account/email/password_reset_key_{part}.txt", context).strip()
        for part in ("subject", "message")
    )
    try:
        with_link.send(subject, message, to=person.email, link=link, button=_("Choose a new password"))
    except OSError as error:
        logger.warning("The mail server refused a link to a new password: %s", type(error).__name__)
