"""Pages of certificates, domains and scripts: of one website, and of all websites of an account."""

import math

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_POST, require_safe

from audit.recording import record as audit
from foundation.texts.people import reference_of
from portal.answers import service
from portal.inventory.forms import PAGE_SIZE, ExpiryForm, ScriptForm
from portal.inventory.view_models import expiry_page, inventory_page
from portal.models import Account, Website
from portal.pages.access import current_user, get_website, manages, members_only
from portal.pages.error_pages import logged_error_page, render_with_error, website_error_page
from portal.pages.forms import page_number
from portal.pages.htmx import HtmxHttpRequest
from portal.pages.urls import site_address
from signed_api.errors import CallError, UnknownScript, WrongState
from signed_api.inventory import ACCEPT_HOST, PIN, UNPIN
from signed_api.limits import MAX_PAGE_DEPTH

_EVENTS = {
    PIN: "website.script_pinned",
    UNPIN: "website.script_unpinned",
    ACCEPT_HOST: "website.script_host_accepted",
}


@require_safe
@members_only
@gzip_page
def inventory(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Show the certificates, the domain and the scripts that scans of the website saw."""
    website, candidates = get_website(request, host)
    address = site_address(website, names_account=len(candidates) > 1)
    try:
        found = service.get_inventory(website)
    except CallError as error:
        error_page = website_error_page(error, website, request.user)
        own_url = {"url": request.get_full_path(), "host": host, "site_url": str(address)}
        return render_with_error(request, "portal/inventory/index.html", error_page, page=own_url)
    page = inventory_page(found, address, may_change=manages(request, website), now=timezone.now())
    return render(request, "portal/inventory/index.html", {"page": page})


@require_POST
@members_only
def change_script(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Pin or unpin a script, or accept its host, as an owner or a manager."""
    website, candidates = get_website(request, host)
    if not manages(request, website):
        raise Http404
    form = ScriptForm(request.POST)
    if not form.is_valid():
        raise BadRequest
    wanted = form.to_request(reference_of(current_user(request).pk))
    back = redirect(site_address(website, names_account=len(candidates) > 1).of_inventory())
    try:
        script = service.change_script(website, wanted).script
    except (UnknownScript, WrongState):
        messages.warning(request, _("Nothing was changed: a scan has seen other scripts since. Look again."))
    except CallError as error:
        error_page = website_error_page(error, website, request.user)
        text = _("Nothing was changed: %(reason)s. Reference for support: %(reference)s.")
        messages.warning(request, text % {"reason": error_page.title, "reference": error_page.reference})
    else:
        _record(website, wanted.act, script.host if wanted.act == ACCEPT_HOST else script.url)
        texts = {
            PIN: _("Pinned. If a scan reads other content of this script, it is a finding."),
            UNPIN: _("Unpinned. The next scan closes a finding about its content."),
            ACCEPT_HOST: _("Accepted. The next scan closes the finding about this host."),
        }
        messages.success(request, texts[wanted.act])
    return back


def _record(website: Website, act: str, about: str) -> None:
    audit(_EVENTS[act], website, after={"host" if act == ACCEPT_HOST else "script": about[:200]})


@require_safe
@members_only
@gzip_page
def expiry_dates(request: HttpRequest) -> HttpResponse:
    """Show when certificates and domains of all websites of an account expire, the soonest first."""
    accounts = list(Account.objects.filter(memberships__user=current_user(request)))
    if not accounts:
        return render(request, "portal/inventory/expiry_dates.html")
    form = ExpiryForm(request.GET, accounts=accounts)
    if not form.is_valid():
        raise BadRequest
    account, number = form.chosen_account, page_number(request, page_size=PAGE_SIZE)
    try:
        found = service.get_last_days(account, form.to_request(page=number))
    except CallError as error:
        error_page = logged_error_page(error, account.ref)
        return render_with_error(request, "portal/inventory/expiry_dates.html", error_page, form=form)
    page = expiry_page(
        found,
        Website.objects.visible_to(request.user),
        account,
        query=request.GET,
        number=number,
        last=min(math.ceil(found.total / PAGE_SIZE), MAX_PAGE_DEPTH // PAGE_SIZE),
        now=timezone.now(),
    )
    return render(request, "portal/inventory/expiry_dates.html", {"page": page, "form": form})
