"""The page about the signed API, its secrets and its test call, for owners and managers."""

import time

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit.recording import record as audit
from foundation.addresses.hosts import readable_host
from portal.answers import service
from portal.api_access.view_models import SECRET_ID, api_page, refusal
from portal.models import Account, Membership, Website
from portal.pages.access import members_only
from portal.pages.error_pages import logged_error_page
from signed_api.account import SecretsRequest
from signed_api.errors import CallError, SecretRefused
from signed_api.findings import DashboardRequest


@require_safe
@members_only
def api_access(request: HttpRequest) -> HttpResponse:
    """Show references, link ids and snippets of the accounts that the person manages."""
    accounts = _managed(request).prefetch_related("websites")
    owned = set(Membership.objects.of_user(request.user).owners().values_list("account", flat=True))
    context = {"page": api_page(request, accounts, owned), "owns": bool(owned)}
    return render(request, "portal/api_access/index.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def secrets(request: HttpRequest, account: int) -> HttpResponse:
    """Show the secrets of an account to its owners; the forms issue and retire one."""
    owned = Membership.objects.of_user(request.user).owners()
    own_account = get_object_or_404(Account, memberships__in=owned, pk=account)
    if request.method == "POST":
        response: HttpResponse = _change_secrets(request, own_account)
        return response
    return _show_secrets(request, own_account, SecretsRequest())


@reauthentication_required
def _change_secrets(request: HttpRequest, account: Account) -> HttpResponse:
    """Issue or retire a secret, after a fresh proof of identity."""
    if "issue" in request.POST:
        return _show_secrets(request, account, SecretsRequest(issue=True))
    if not SECRET_ID.fullmatch(request.POST.get("retire", "")):
        raise BadRequest
    return _show_secrets(request, account, SecretsRequest(retire=request.POST["retire"]))


def _show_secrets(request: HttpRequest, account: Account, wish: SecretsRequest) -> HttpResponse:
    """Make the change and return the page; it shows a new secret this once."""
    try:
        found = service.secrets_of(account, wish)
    except SecretRefused as error:
        messages.warning(request, refusal(error.detail.reason))
        return redirect("portal:api" if error.detail.reason == "portal_only" else request.path)
    except CallError as error:
        page = {"error_page": logged_error_page(error, account.ref), "page": {"url": request.path}}
        return render(request, "portal/api_access/secrets.html", {"account": account, **page})
    if wish.issue:
        audit("api_secret.issued", account)
    elif wish.retire:
        audit("api_secret.retired", account, after={"id": wish.retire})
        messages.info(request, _("The secret works for one more day."))
        return redirect(request.path)
    # The forms need their URL: after the proof of identity, the browser shows another one.
    url = request.path
    context = {"account": account, "url": url, "secrets": found.secrets, "new_secret": found.secret}
    return render(request, "portal/api_access/secrets.html", context)


@require_POST
@members_only
def test_call(request: HttpRequest, website: int) -> HttpResponse:
    """Call the API for a website with the portal's own secret, and say how it went."""
    websites = Website.objects.filter(account__in=_managed(request)).select_related("account")
    site = get_object_or_404(websites, pk=website)
    started = time.monotonic()
    try:
        dashboard = service.get_dashboard(site, DashboardRequest(page_size=1))
    except CallError as error:
        page = logged_error_page(error, site.host)
        text = _("The call for %(host)s failed: %(reason)s. Reference for support: %(reference)s.")
        values = {"host": readable_host(site.host), "reason": page.title, "reference": page.reference}
        messages.warning(request, text % values)
    else:
        text = _("The call for %(host)s works, in %(time)s ms. Open findings: %(count)s.")
        took = round((time.monotonic() - started) * 1000)
        count = number_format(dashboard.summary.open)
        messages.info(request, text % {"host": readable_host(site.host), "count": count, "time": took})
    return redirect("portal:api")


def _managed(request: HttpRequest) -> QuerySet[Account]:
    """Return the accounts in which the person is an owner or a manager."""
    return Account.objects.filter(memberships__in=Membership.objects.of_user(request.user).managing())
