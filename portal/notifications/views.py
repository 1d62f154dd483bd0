"""Pages about e-mails: a member's settings, new findings, and unsubscribing."""

from dataclasses import replace

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.core.signing import BadSignature
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit.recording import record as audit
from portal.answers import service
from portal.models import Membership, Subscription, Website, WebsiteSummary
from portal.models.visits import record_visit
from portal.notifications.emails import membership_of_token
from portal.notifications.forms import SubscriptionForm
from portal.notifications.view_models import SubscriptionSection, new_findings_page, what_is_new_page
from portal.pages.access import find_website, members_only
from portal.pages.error_pages import website_error_page
from portal.pages.forms import Filters
from portal.pages.htmx import HtmxHttpRequest, render_site
from portal.pages.urls import Address, site_address
from portal.pages.view_models import site_not_found, site_page
from portal.pages.view_models.overview import RECENT_DAYS
from portal.texts import labels
from signed_api.errors import CallError, InvalidRequest
from signed_api.findings import ChangesResponse, DashboardRequest


@require_safe
@members_only
def subscriptions(request: HttpRequest) -> HttpResponse:
    """Show the e-mails of each account of the person."""
    memberships = Membership.objects.of_user(request.user).select_related("account", "subscription")
    sections = [
        SubscriptionSection(
            pk=membership.pk,
            account=str(membership.account),
            form=SubscriptionForm(
                instance=Subscription.of(membership), auto_id=f"subscription-{membership.pk}-%s"
            ),
        )
        for membership in memberships
    ]
    context = {"sections": sections, "can_send": bool(settings.EMAIL_URL)}
    return render(request, "portal/notifications/settings.html", context)


@require_POST
@members_only
def subscribe(request: HttpRequest, membership: int) -> HttpResponse:
    """Save a member's choice, and the language of the page."""
    own_membership = get_object_or_404(Membership.objects.of_user(request.user), pk=membership)
    subscription = Subscription.of(own_membership)
    form = SubscriptionForm(request.POST, instance=subscription)
    if not form.is_valid():
        raise BadRequest
    choice = form.cleaned_data | {"language": get_language() or subscription.language}
    with transaction.atomic():
        if not _lock(own_membership):
            raise Http404
        Subscription.objects.update_or_create(membership=own_membership, defaults=choice)
        account = own_membership.account
        chosen = {name: choice[name] for name in ("frequency", "reminders")}
        audit("subscription.saved", account=account.ref, after=chosen)
    messages.info(request, _("Your choice for %(account)s is saved.") % {"account": account})
    return redirect("portal:notifications")


@require_safe
@members_only
def what_is_new(request: HtmxHttpRequest) -> HttpResponse:
    """Show which websites changed in the last days, and clear the header's dot."""
    if request.method == "GET" and request.user.pk:
        record_visit(request.user.pk)
    websites = list(Website.objects.visible_to(request.user))
    service.refresh_for_page(websites)
    summaries = WebsiteSummary.objects.in_bulk(website.pk for website in websites)
    page = what_is_new_page(websites, summaries)
    return render(request, "portal/notifications/what_is_new.html", {"page": page})


@require_safe
@members_only
def new_findings(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Show the still open changes since an e-mail, or of the last days without a cursor in the URL."""
    website, candidates = find_website(request, host)
    if website is None:
        return render_site(request, site_not_found(host, path=request.path, user=request.user))
    cursor, min_severity = request.GET.get("since", ""), request.GET.get("min_severity", "")
    min_severity = min_severity if min_severity in labels.SEVERITIES else ""
    try:
        if cursor:
            changes = service.get_changes_since(website, cursor=cursor, min_severity=min_severity)
        else:
            changes = service.get_recent_changes(website, days=RECENT_DAYS, min_severity=min_severity)
    except InvalidRequest as error:  # not a cursor of this service
        raise Http404 from error
    except CallError as error:
        error_page = website_error_page(error, website, request.user)
        return render_site(request, replace(site_page(website, candidates, Filters()), error_page=error_page))
    address = site_address(website, names_account=len(candidates) > 1)
    page_of_changes = new_findings_page(changes, address, list_url=_list_url(website, changes, address))
    return render(request, "portal/notifications/new_findings.html", {"page": page_of_changes})


def _list_url(website: Website, changes: ChangesResponse, address: Address) -> str:
    """Return the URL of the list of the last days if it has as many findings as ``changes``, else "".

    Only a page that cannot show all findings needs it. The numbers differ if findings came back: the list is
    by first seen.
    """
    if changes.first_seen_count is None or changes.total <= len(changes.findings):
        return ""
    request = DashboardRequest(since=RECENT_DAYS, page_size=1)
    try:
        found = service.get_dashboard(website, request, stores_summary=False).dashboard
    except CallError:
        return ""
    is_exact = changes.total_relation == "exact"
    is_same = is_exact and found.total == changes.total
    return address.with_filters(since=str(RECENT_DAYS)) if is_same else ""


@csrf_exempt  # mail programs post here (RFC 8058); the token proves more than a cookie would
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """End the e-mails of one membership for anyone with the link; only a POST makes the change."""
    try:
        memberships = Membership.objects.select_related("account")
        membership = memberships.filter(pk=membership_of_token(token)).first()
    except BadSignature as error:
        raise Http404 from error
    subscription = Subscription.of(membership) if membership else None
    is_done = subscription is None or subscription.is_refused
    if request.method == "POST" and membership and subscription and not is_done:
        is_done = True
        with transaction.atomic():
            if _lock(membership):
                Subscription.objects.update_or_create(
                    membership=membership, defaults={"frequency": Subscription.Frequency.NEVER}
                )
                audit("subscription.ended", account=membership.account.ref)
    context = {"membership": membership, "is_done": is_done}
    return render(request, "portal/notifications/unsubscribe.html", context)


def _lock(membership: Membership) -> bool:
    """Lock the membership until the end of the transaction; return False if it has just ended."""
    return Membership.objects.select_for_update().filter(pk=membership.pk).exists()


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def former_unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Redirect an old link; a POST is handled here, because mail programs follow no redirects."""
    if request.method == "POST":
        return unsubscribe(request, token)
    return redirect("portal:unsubscribe", token, permanent=True)


@require_safe
def former_new_findings(request: HttpRequest, host: str) -> HttpResponse:
    """Redirect an old link, which has ``floor`` for ``min_severity``."""
    query = request.GET.copy()
    if "floor" in query:
        query["min_severity"] = query.pop("floor")[-1]
    url = reverse("portal:new_findings", args=[host])
    return redirect(f"{url}?{query.urlencode()}" if query else url, permanent=True)
