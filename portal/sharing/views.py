"""Pages of share links: creating one, the list, and the shared page."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from allauth.decorators import rate_limit
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from foundation.texts.people import reference_of
from portal.answers import service
from portal.models import Account, IssueTracker, Membership, ShareLink, Website
from portal.pages.access import current_user, for_strangers, get_website, manages, members_only
from portal.pages.error_pages import website_error_page
from portal.pages.forms import FINDING_ID, Filters, ShareFindingForm, ShareForm, ShareListForm
from portal.pages.htmx import HtmxHttpRequest, render_site
from portal.pages.urls import portal_origin
from portal.pages.view_models import (
    HandOver,
    Lead,
    ShareOffer,
    SitePage,
    hand_over,
    hand_over_problem,
    problem_heading,
    site_page,
)
from portal.pages.view_models.hand_over import MAX_LOCATIONS, list_mail_url
from portal.pages.view_models.problems import chosen_problem
from portal.sharing import actions
from portal.sharing.actions import Subject
from portal.sharing.fixing import fix_news
from portal.sharing.forms import FixedForm, IssueTrackerForm
from portal.sharing.shared_problem import shared_problem
from portal.sharing.view_models import account_sections, list_title, shared_finding, shared_list
from signed_api.errors import (
    AlreadyAnswered,
    CallError,
    InactiveEntitlement,
    RevokedLink,
    UnknownFinding,
    UnknownLink,
    WrongState,
)
from signed_api.findings import DashboardResponse, FindingDetail

RETRY_SECONDS = 60  # after a failure of the service
MAX_SHARED = 100  # findings in a shared list, the most in one response of the service
MAX_WITH_LOCATIONS = 10  # findings of a shared problem with all their locations: each needs a request
_USED_FORMS = "shared_forms"  # session key: CSRF tokens of used forms, because a reload sends a form again
_MAX_USED_FORMS = 10  # in a session
_CSRF_TOKEN_LENGTH = 64
_LOST = (InactiveEntitlement, RevokedLink, UnknownLink, UnknownFinding)  # shown like a revoked link

_rate_limited: Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]] = rate_limit(
    action="shared", limit_get=True
)


@require_safe
@members_only
@gzip_page
def shares(request: HttpRequest) -> HttpResponse:
    """Show the share links and the issue tracker of each account that the person owns or manages."""
    return _render_shares(request)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def set_tracker(request: HttpRequest, account: int) -> HttpResponse:
    """Set or remove an account's issue tracker.

    An invalid form is shown at this URL, so a GET of it redirects to the page of share links.
    """
    if request.method != "POST":
        return redirect("portal:shares")
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
    own_share_link = get_object_or_404(ShareLink.objects.manageable_by(request.user), pk=share_link)
    is_revoked = actions.revoke(own_share_link)
    messages.info(request, _("The link no longer works.") if is_revoked else _("The link had already ended."))
    return redirect("portal:shares")


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def share_finding(request: HtmxHttpRequest, host: str, finding_id: str) -> HttpResponse:
    """Create a share link of a finding, and show it once; a GET shows the form with the evidence.

    The form is on the finding's page as well.
    """
    website, page = _page_of(request, host, finding_id=finding_id)
    if not FINDING_ID.fullmatch(finding_id):
        raise Http404
    is_preview = request.method != "POST"
    if is_preview and not manages(request, website):
        return redirect(page.url)
    form = None if is_preview else _valid_form(request, ShareFindingForm(request.POST), website)
    try:
        response = service.get_finding(website, finding_id)
    except CallError as error:
        error_page = website_error_page(error, website, request.user)
        return render_site(request, replace(page, error_page=error_page))
    if form is None:
        shown = shared_finding(response, includes_evidence=True)
        return _preview(request, page, ShareFindingForm(auto_id="share-%s"), finding=shown)
    finding = response.finding

    def ways_to_share(link: Lead) -> HandOver:
        tracker = IssueTracker.objects.filter(account=website.account_id).first()
        return hand_over(finding, host=host, link=link, tracker=tracker)

    subject = Subject(
        title=finding.title,
        finding_id=finding_id,
        includes_evidence=form.cleaned_data["evidence"],
        allows_fixed=form.cleaned_data["fixed"],
    )
    return _create_and_show(request, website, form, subject, page_url=page.url, ways_to_share=ways_to_share)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def share_list(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Create a share link of the worst findings under the URL's filters. The form is next to the list.

    A GET for a problem shows the form with the evidence.
    """
    website, page = _page_of(request, host)
    own = page.address.filters.without_page.of_person(reference_of(current_user(request).pk))
    filters = replace(own, sort="")
    is_preview = request.method != "POST"
    if is_preview and not (filters.problem and manages(request, website)):
        return redirect(page.url)
    form_class = ShareForm if filters.problem else ShareListForm  # a list has no evidence to share
    form = None if is_preview else _valid_form(request, form_class(request.POST), website)
    try:
        if form is None:
            shown = _shared_list(website, filters, includes_evidence=True)
            return _preview(request, page, form_class(auto_id="share-%s"), **shown)
        dashboard = service.get_dashboard(website, replace(filters, page_size=MAX_LOCATIONS).to_request())
    except CallError as error:
        error_page = website_error_page(error, website, request.user)
        return render_site(request, replace(page, error_page=error_page))
    subject = Subject(
        title=list_title(dashboard, filters),
        filters=filters.as_text(),
        includes_evidence=form.cleaned_data.get("evidence", False),
    )

    def ways_to_share(link: Lead) -> HandOver:
        chosen = chosen_problem(dashboard, replace(page.address, filters=filters))
        if not chosen:
            return HandOver(mail_url=list_mail_url(subject.title, host=host, link=link.url))
        tracker = IssueTracker.objects.filter(account=website.account_id).first()
        return hand_over_problem(
            dashboard,
            title=problem_heading(dashboard, filters.problem),
            filters=filters,
            fix=chosen.fix,
            link=link,
            tracker=tracker,
        )

    return _create_and_show(request, website, form, subject, page_url=page.url, ways_to_share=ways_to_share)


def _preview(request: HttpRequest, page: SitePage, form: ShareListForm, **shown: Any) -> HttpResponse:
    """Return the page with the form and the evidence that readers see if the owner includes it."""
    share = ShareOffer(url=request.get_full_path(), form=form)
    context = {"share": share, "page_url": page.url, "host": page.host, **shown}
    return render(request, "portal/sharing/preview.html", context)


def _page_of(request: HtmxHttpRequest, host: str, *, finding_id: str = "") -> tuple[Website, SitePage]:
    """Return the website of the URL, and the page with the form; raises Http404."""
    website, candidates = get_website(request, host)
    return website, site_page(website, candidates, Filters.from_query(request.GET), finding_id=finding_id)


def _valid_form(request: HttpRequest, form: ShareListForm, website: Website) -> ShareListForm:
    """Return the valid form of an owner or a manager; raises Http404 for other members, else BadRequest."""
    _require_manager(request, website)
    if not form.is_valid():
        raise BadRequest
    return form


def _require_manager(request: HttpRequest, website: Website) -> None:
    """Raise Http404 unless the person is an owner or a manager of the website's account."""
    if not manages(request, website):
        raise Http404


def _create_and_show(
    request: HttpRequest,
    website: Website,
    form: ShareListForm,
    subject: Subject,
    *,
    page_url: str,
    ways_to_share: Callable[[Lead], HandOver],
) -> HttpResponse:
    """Create the share link, and show it once with the ways to pass it on."""
    form_token = request.POST.get("csrfmiddlewaretoken", "")[:_CSRF_TOKEN_LENGTH]  # differs on each page
    used_forms = request.session.get(_USED_FORMS, [])
    if form_token and form_token in used_forms:
        messages.info(request, _("This link exists already. To make another one, open its page again."))
        return redirect("portal:shares")
    try:
        with transaction.atomic():
            share_link, token = actions.create(
                website, subject, by=current_user(request), days=form.cleaned_data["days"]
            )
            _require_manager(request, website)  # again, under the lock: the role may have ended meanwhile
    except Website.DoesNotExist as error:
        raise Http404 from error
    except actions.TooManyShareLinks:
        return _refuse_more_share_links(request)
    if form_token:
        request.session[_USED_FORMS] = [*used_forms, form_token][-_MAX_USED_FORMS:]
    link = portal_origin(request) + reverse("portal:shared", args=[token])
    context = {
        "share_link": share_link,
        "link": link,
        "page_url": page_url,
        "hand_over": ways_to_share(Lead(link, is_share_link=True)),
        "is_for_email": request.POST.get("way") == "email",
    }
    return render(request, "portal/sharing/created.html", context)


def _refuse_more_share_links(request: HttpRequest) -> HttpResponse:
    count = actions.MAX_LIVE_SHARE_LINKS
    text = ngettext(
        "An organization can have %(count)s working share link. Revoke one that is no longer needed.",
        "An organization can have %(count)s working share links. Revoke some that are no longer needed.",
        count,
    )
    messages.warning(request, text % {"count": count})
    return redirect("portal:shares")


def _render_shares(request: HttpRequest, invalid_form: IssueTrackerForm | None = None) -> HttpResponse:
    sections = account_sections(request.user, invalid_form)
    return render(request, "portal/sharing/shares.html", {"sections": sections})


@for_strangers
@require_safe
@_rate_limited
@gzip_page
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """Show the shared finding, problem or list; every ended link gets the same 404, a service failure 503."""
    try:
        share_link = actions.find(token)
        template, content = _content(share_link)
    except (actions.NoLongerShared, *_LOST):
        return render(request, "portal/sharing/ended.html", status=404)
    except CallError:  # the gateway has logged it
        return _unavailable(request)
    if request.method == "GET":
        actions.record_opening(share_link)
    context = {"expires_at": share_link.expires_at, "token": token, **content}
    return render(request, template, context)


@for_strangers
@require_http_methods(["GET", "HEAD", "POST"])
@_rate_limited
def say_fixed(request: HttpRequest, token: str) -> HttpResponse:
    """Let a reader confirm "I fixed it"; the shared page then shows the result, or why it was refused."""
    form = FixedForm(request.POST if request.method == "POST" else None)
    try:
        share_link = actions.find_allowing_fixed(token)
        if form.is_valid():
            with suppress(actions.SaidRecently, AlreadyAnswered, WrongState):
                actions.say_fixed(share_link, name=form.cleaned_data["name"])
            return redirect("portal:shared", token=token)
        _template, content = _content(share_link)
    except (actions.NoLongerShared, *_LOST):
        return render(request, "portal/sharing/ended.html", status=404)
    except CallError:  # the gateway has logged it
        return _unavailable(request)
    if not content["news"].may_say:
        return redirect("portal:shared", token=token)
    response = render(request, "portal/sharing/fixed.html", {"form": form, "token": token, **content})
    response["Referrer-Policy"] = "same-origin"  # the form must send its origin
    return response


def _unavailable(request: HttpRequest) -> HttpResponse:
    response = render(request, "portal/sharing/unavailable.html", status=503)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _content(share_link: ShareLink) -> tuple[str, dict[str, Any]]:
    """Return the template and its context; raises CallError, and NoLongerShared for unknown filters."""
    website, has_evidence = share_link.website, share_link.includes_evidence
    if share_link.finding_id:
        response = service.get_finding(website, share_link.finding_id)
        news = fix_news(share_link, response)
        finding = shared_finding(response, includes_evidence=has_evidence, decides=news.decides)
        return "portal/sharing/finding.html", {"finding": finding, "news": news}
    filters = Filters.from_text(share_link.filters)
    if filters is None:  # a filter is no longer known: without it, the list would show too much
        raise actions.NoLongerShared
    shown = _shared_list(website, filters, includes_evidence=has_evidence)
    return f"portal/sharing/{'problem' if 'problem' in shown else 'list'}.html", shown


def _shared_list(website: Website, filters: Filters, *, includes_evidence: bool) -> dict[str, Any]:
    """Return a context with the "problem" under the filters, or with their "list"; raises CallError."""
    dashboard = service.get_dashboard(website, replace(filters, page_size=MAX_SHARED).to_request())
    if not filters.problem or not dashboard.threats:
        return {"list": shared_list(dashboard, filters)}
    details = _details(website, dashboard)
    return {
        "problem": shared_problem(dashboard, filters, details=details, includes_evidence=includes_evidence)
    }


def _details(website: Website, dashboard: DashboardResponse) -> dict[str, FindingDetail]:
    """Return the first findings with several locations, with all their locations, by id."""
    with_several = [threat.id for threat in dashboard.threats if threat.locations_count > 1]
    details = {}
    for finding_id in with_several[:MAX_WITH_LOCATIONS]:
        with suppress(UnknownFinding):  # deleted since the list was read
            details[finding_id] = service.get_finding(website, finding_id).finding
    return details
