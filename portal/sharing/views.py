"""Pages of share links: creation, the list, and the page that the link opens."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal import service
from portal.access import find_website, members_only
from portal.error_pages import logged_error_page
from portal.forms import Filters, ShareForm
from portal.gateway import (
    DashboardRequest,
    FindingResponse,
    GatewayError,
    InactiveEntitlement,
    RevokedLink,
    UnknownFinding,
    UnknownLink,
)
from portal.htmx import HtmxHttpRequest, render_site
from portal.models import Account, IssueTracker, Membership, ShareLink, Website
from portal.page_urls import portal_origin, site_address
from portal.sharing import actions
from portal.sharing.forms import IssueTrackerForm
from portal.sharing.view_models import account_sections, shared_finding
from portal.view_models import site_page
from portal.view_models.hand_over import hand_over

RETRY_SECONDS = 60
_LOST = (InactiveEntitlement, RevokedLink, UnknownLink, UnknownFinding)  # the page ends, as if revoked

View = Callable[..., HttpResponseBase]


@require_safe
@members_only
def shares(request: HttpRequest) -> HttpResponse:
    """Show the share links and the issue tracker of each account that the person owns or manages."""
    return _render_shares(request)


@require_POST
@members_only
def set_tracker(request: HttpRequest, account: int) -> HttpResponse:
    """Set or remove an account's issue tracker."""
    own_memberships = Membership.objects.of_user(request.user).managing()
    own_account = get_object_or_404(Account, memberships__in=own_memberships, pk=account)
    form = IssueTrackerForm(request.POST, account=own_account)
    if not form.is_valid():
        return _render_shares(request, form)
    form.save()
    messages.info(request, _("The issue tracker of %(account)s is saved.") % {"account": own_account})
    return redirect("portal:shares")


@require_POST
@members_only
def revoke(request: HttpRequest, share_link: int) -> HttpResponse:
    """End a share link."""
    own = get_object_or_404(ShareLink.objects.manageable_by(request.user), pk=share_link)
    is_revoked = actions.revoke(own)
    messages.info(request, _("The link no longer works.") if is_revoked else _("The link had already ended."))
    return redirect("portal:shares")


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def share_finding(request: HtmxHttpRequest, host: str, finding_id: str) -> HttpResponse:
    """Create a share link of a finding, and show it once. The form is on the finding's page."""
    website, candidates = find_website(request, host)
    address = site_address(website, is_shared=len(candidates) > 1) if website else None
    page_url = address.of_finding(finding_id) if address else ""
    if website is None or not page_url:
        raise Http404
    if request.method != "POST":
        return redirect(page_url)
    form = _valid_form(request, website)
    try:
        response = service.get_finding(website, finding_id, DashboardRequest())
    except GatewayError as error:
        page = site_page(website, candidates, Filters(), finding_id=finding_id)
        return render_site(request, replace(page, error_page=logged_error_page(error, host)))
    try:
        share_link, token = actions.create(
            website,
            title=response.finding.title,
            by=_person(request),
            days=form.cleaned_data["days"],
            finding_id=finding_id,
            includes_evidence=form.cleaned_data["evidence"],
        )
    except actions.TooManyLinks:
        return _refuse_more_links(request)
    link = portal_origin(request) + reverse("portal:shared", args=[token])
    return _show_once(request, share_link, link, page_url, response)


def _valid_form(request: HttpRequest, website: Website) -> ShareForm:
    """Return the form of an owner or a manager; raises Http404 for other members, and BadRequest."""
    own_memberships = Membership.objects.of_user(request.user).managing()
    if not own_memberships.filter(account=website.account_id).exists():
        raise Http404
    form = ShareForm(request.POST)
    if not form.is_valid():
        raise BadRequest
    return form


def _refuse_more_links(request: HttpRequest) -> HttpResponse:
    count = actions.MAX_LIVE_LINKS
    text = ngettext(
        "An account can have %(count)s working share link. Revoke one that is no longer needed.",
        "An account can have %(count)s working share links. Revoke some that are no longer needed.",
        count,
    )
    messages.warning(request, text % {"count": count})
    return redirect("portal:shares")


def _show_once(
    request: HttpRequest, share_link: ShareLink, link: str, page_url: str, response: FindingResponse
) -> HttpResponse:
    """Show the new link, with an e-mail and an issue that lead to it."""
    tracker = IssueTracker.objects.filter(account=share_link.website.account_id).first()
    context = {
        "share_link": share_link,
        "link": link,
        "page_url": page_url,
        "hand_over": hand_over(response.finding, host=response.host, link=link, tracker=tracker),
    }
    return render(request, "portal/sharing/created.html", context)


def _render_shares(request: HttpRequest, invalid_form: IssueTrackerForm | None = None) -> HttpResponse:
    sections = account_sections(request.user, invalid_form)
    return render(request, "portal/sharing/shares.html", {"sections": sections})


def for_strangers(view: View) -> View:
    """Add headers: search engines, caches and the websites behind links do not learn of the page."""

    @wraps(view)
    def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        response["Cache-Control"] = "no-store, private"
        response["Referrer-Policy"] = "no-referrer"
        response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
        return response

    return respond


@for_strangers
@require_safe
@gzip_page
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """Show what a share link shares: 404 in one form when there is nothing, 503 when the service fails."""
    try:
        share_link = actions.find(token)
        response = service.get_finding(share_link.website, share_link.finding_id, DashboardRequest())
    except (actions.LinkEnded, *_LOST):
        return render(request, "portal/sharing/ended.html", status=404)
    except GatewayError:  # the gateway has logged it
        response_503 = render(request, "portal/sharing/unavailable.html", status=503)
        response_503["Retry-After"] = str(RETRY_SECONDS)
        return response_503
    if request.method == "GET":
        actions.record_opening(share_link)
    context = {
        "expires_at": share_link.expires_at,
        "finding": shared_finding(response, includes_evidence=share_link.includes_evidence),
    }
    return render(request, "portal/sharing/finding.html", context)


def _person(request: HttpRequest) -> Any:
    """Return the signed-in user, whom ``members_only`` guarantees."""
    return request.user
