"""The page of public statistics, for the owners of an account."""

import math
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from audit.recording import record as audit
from foundation.texts.regions import REGIONS
from portal.answers import service
from portal.models import Account, Membership
from portal.pages.access import members_only
from portal.pages.error_pages import logged_error_page
from portal.pages.forms import page_number
from portal.publicity.forms import AccountForm, WebsiteForm
from signed_api.account import PublicityRequest, PublicityResponse
from signed_api.errors import CallError

PAGE_SIZE = 50


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def publicity(request: HttpRequest, account: int) -> HttpResponse:
    """Show what may be published about the websites of an account; the forms change it."""
    owned = Membership.objects.of_user(request.user).owners()
    own = get_object_or_404(Account, memberships__in=owned, pk=account)
    if request.method == "POST":
        return _change(request, own)
    page = page_number(request, page_size=PAGE_SIZE)
    try:
        found = service.publicity_of(own, PublicityRequest(page=page, page_size=PAGE_SIZE))
    except CallError as error:
        return _refused(request, own, error)
    return render(request, "portal/publicity/page.html", {"account": own, **_context(own, found, page)})


def _change(request: HttpRequest, account: Account) -> HttpResponse:
    """Store the choice for the account, or for the website if the form names one."""
    host = request.POST.get("host", "")
    region = request.POST.get("region", "")
    current = region if region in REGIONS else ""
    form = WebsiteForm(request.POST, host=host, current=current) if host else AccountForm(request.POST)
    page = reverse("portal:publicity", args=[account.pk])
    if not form.is_valid():
        messages.warning(request, _("Nothing was changed: choose one of the values."))
        return redirect(page)
    try:
        service.publicity_of(account, PublicityRequest(**form.cleaned_data))
    except CallError as error:
        return _refused(request, account, error)
    choices = {name: value for name, value in form.cleaned_data.items() if name != "host"}
    audit("publicity.chosen", account, host=host, after=choices)
    messages.success(request, _("Saved. The feed changes within an hour, and the statistics next week."))
    return redirect(page)


def _context(account: Account, found: PublicityResponse, page: int) -> dict[str, Any]:
    url, last = reverse("portal:publicity", args=[account.pk]), math.ceil(found.total / PAGE_SIZE)
    return {
        "form": AccountForm(initial={"publicity": found.publicity}),
        "rows": [
            (
                site.host,
                WebsiteForm(
                    initial={"host": site.host, "publicity": site.publicity, "region": site.region},
                    host=site.host,
                    current=site.region,
                ),
            )
            for site in found.websites
        ],
        "previous_url": f"{url}?page={page - 1}" if page > 1 else "",
        "next_url": f"{url}?page={page + 1}" if page < last else "",
    }


def _refused(request: HttpRequest, account: Account, error: CallError) -> HttpResponse:
    """Return the page with the error in place of its content."""
    error_page = logged_error_page(error, account.ref)
    url = reverse("portal:publicity", args=[account.pk])
    context = {"account": account, "error_page": error_page, "page": {"url": url}}
    return render(request, "portal/publicity/page.html", context, status=error_page.status)
