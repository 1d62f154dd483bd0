"""Forms that need a fresh proof of identity."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _


@reauthentication_required
def require_proof(request: HttpRequest) -> None:
    """Require a fresh proof of identity: allauth asks for it, then repeats the form."""


def lost_form(request: HttpRequest, page: str, **url_arguments: Any) -> HttpResponse:
    """Redirect to ``page`` with a message: allauth repeats only one of several forms that await a proof."""
    text = _("Nothing more was changed. If it is not done yet, please send the form again.")
    messages.warning(request, text)
    return redirect(reverse(page, kwargs=url_arguments))
