"""The sign-up pages: one asks for an address, and the link sent there opens the other."""

from functools import partial
from typing import Any

from allauth.core.internal.ratelimit import get_ip
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from config.identity.passwords import PER_ADDRESS, PER_SENDER, PERIOD
from config.models import Attempts
from config.onboarding import sign_up as actions
from config.web.background import run_later
from config.web.errors import too_many_requests
from foundation.texts.words import on_one_line
from portal.pages.forms import MailAddressField
from portal.pages.urls import adding_url, portal_origin
from portal.team.forms import JoinForm
from portal.team.people import NameTaken


class AddressForm(forms.Form):
    """Form with the address of a person who wants an account."""

    email = MailAddressField(label=gettext_lazy("E-mail address"), max_length=254)


class AccountForm(JoinForm):
    """Form for a new account: its name, and the user name and password of its owner."""

    name = forms.CharField(label=gettext_lazy("Name of your company or project"), max_length=100)
    field_order = ("name", "username", "password1", "password2")

    def clean_name(self) -> str:
        """Return the name on one line, for subjects of e-mails and for logs."""
        name = on_one_line(self.cleaned_data["name"])
        if not name:
            raise forms.ValidationError(self.fields["name"].error_messages["required"])
        return name


@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest) -> HttpResponse:
    """Ask for an e-mail address, without showing whether it is known."""
    if settings.SIGN_UP != "open":
        raise Http404
    if request.user.is_authenticated:
        return redirect("portal:sites")
    form = AddressForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return render(request, "sign_up/address.html", {"form": form, "trial": actions.trial()})
    email = form.cleaned_data["email"]
    limits = {f"sign-up from {get_ip(request)}": PER_SENDER, f"sign-up of {email}": PER_ADDRESS}
    if not Attempts.objects.allow(limits, period=PERIOD, now=timezone.now()):
        return too_many_requests(request, seconds=int(PERIOD.total_seconds()))
    language = get_language() or settings.LANGUAGE_CODE
    run_later(partial(actions.send_link, email, origin=portal_origin(request), language=language))
    return redirect("sign_up_sent")


@require_safe
def sign_up_sent(request: HttpRequest) -> HttpResponse:
    """Say that an e-mail is on its way."""
    if settings.SIGN_UP != "open":
        raise Http404
    is_printed = settings.EMAIL_BACKEND.endswith(".console.EmailBackend")
    return render(request, "sign_up/sent.html", {"is_printed": is_printed})


@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def new_account(request: HttpRequest, token: str) -> HttpResponse:
    """Create the account of the person who opens the link, and redirect to adding a website."""
    if settings.SIGN_UP not in ("invite", "open"):
        raise Http404
    link = actions.read_link(token)
    if link is None or actions.has_user(link.email):
        return render(request, "sign_up/link_ended.html", status=404)
    if request.user.is_authenticated:
        return render(request, "sign_up/account.html", {"link": link})
    form = AccountForm(
        request.POST if request.method == "POST" else None, initial={"username": link.email.partition("@")[0]}
    )
    if not form.is_valid():
        return render(request, "sign_up/account.html", {"link": link, "form": form})
    person: Any = form.save(commit=False)  # hashes the password before any transaction begins
    try:
        actions.create_account(person, link, name=form.cleaned_data["name"])
    except actions.LinkUsed:
        return render(request, "sign_up/link_ended.html", status=404)
    except NameTaken:
        form.refuse_name()
        return render(request, "sign_up/account.html", {"link": link, "form": form})
    login(request, person)
    messages.success(request, _("Your account is ready. Add your website next."))
    return redirect(adding_url())
