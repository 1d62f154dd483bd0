"""Pages of scans: the list, starting and cancelling one, retests, changed pages, and the schedule."""

import math
from collections.abc import Sequence
from contextlib import suppress

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from audit.recording import record as audit
from portal.answers import service
from portal.models import Membership, Website
from portal.pages.access import get_website, manages, members_only
from portal.pages.error_pages import logged_error_page, render_with_error, website_error_page
from portal.pages.forms import FINDING_ID, page_number
from portal.pages.htmx import HtmxHttpRequest
from portal.pages.urls import adding_url
from portal.scans import labels
from portal.scans.forms import ScheduleForm
from portal.scans.view_models import (
    DEEP,
    needs_dns_proof,
    page_change_page,
    retest_page,
    scans_page,
    url_of,
)
from portal.texts import labels as words
from signed_api.errors import CallError, ScanRefused, UnknownFinding, UnknownScan
from signed_api.findings import CoverageEntry, DashboardRequest
from signed_api.limits import MAX_PAGE_DEPTH
from signed_api.scans import (
    ScanRequest,
    ScanScheduleRequest,
    ScansRequest,
)

PAGE_SIZE = 10
MAX_JOB_ID = 10**18  # ids have at most 18 digits
_PROFILES = tuple(labels.MEANINGS)


@require_safe
@members_only
@gzip_page
def scans(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Show the waiting or running scan, the scans that can be started, and earlier scans."""
    website, names_account = _website(request, host)
    return _render_scans(request, website, names_account=names_account)


def _render_scans(
    request: HtmxHttpRequest, website: Website, *, names_account: bool, refused: ScheduleForm | None = None
) -> HttpResponse:
    """Show the page of scans; ``refused`` is the form of a schedule that was not saved."""
    number = page_number(request, page_size=PAGE_SIZE)
    try:
        found = service.get_scans(website, ScansRequest(page=number, page_size=PAGE_SIZE))
        coverage: Sequence[CoverageEntry] = ()
        if number == 1:
            coverage = service.get_dashboard(website, DashboardRequest(page_size=1)).coverage
        is_running = any(scan.ended_at is None for scan in found.jobs)
        rules = None if is_running and request.htmx else service.scan_rules(website, ScanScheduleRequest())
    except CallError as error:
        error_page = website_error_page(error, website, request.user)
        url = (
            request.get_full_path()
            if refused is None
            else url_of("scans", website, names_account=names_account)
        )
        own_url = {"url": url, "host": website.host}
        return render_with_error(request, "portal/scans/index.html", error_page, page=own_url)
    last = min(math.ceil(found.total / PAGE_SIZE), MAX_PAGE_DEPTH // PAGE_SIZE)
    may_scan = manages(request, website)
    page = scans_page(
        website,
        found.jobs,
        rules,
        names_account=names_account,
        may_scan=may_scan,
        may_consent=_may_consent(request, website),
        number=number,
        next_page=number + 1 if number < last else None,
        form=refused,
        proof_url=_proof_url(website) if may_scan and rules and needs_dns_proof(rules) else "",
        coverage=coverage,
    )
    return render(request, "portal/scans/index.html", {"page": page})


def _proof_url(website: Website) -> str:
    """Return the URL of the website's claim, else of the account's claims."""
    with suppress(CallError):
        if claim := service.get_claim_to(website.account, website.host):
            return reverse("portal:claim", args=[website.account_id, int(claim.claim_id)])
    return adding_url(website.account.ref)


@require_POST
@members_only
def start_scan(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Scan the website now, as an owner or a manager."""
    website, names_account = _own_website(request, host)
    profile = request.POST.get("profile", _PROFILES[0])
    if profile not in _PROFILES:
        raise BadRequest
    back = redirect(url_of("scans", website, names_account=names_account))
    agrees = profile == DEEP and "consent" in request.POST and _may_consent(request, website)
    try:
        answer = service.scan(website, ScanRequest(profile=profile, consent=agrees))
    except ScanRefused as refusal:
        _record_consent(website, agrees=agrees)
        messages.warning(request, _refusal(refusal))
        return back
    except CallError as error:
        messages.warning(request, _failure(error, host))
        return back
    _record_consent(website, agrees=agrees)
    if answer.job.profile != profile or answer.job.finding_id:
        messages.info(request, _("Another scan of this website waits or runs, so this one was not started."))
        return back
    if not answer.already:
        audit("website.scanned", website, after={"profile": profile})
    return back


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def retest(request: HtmxHttpRequest, host: str, finding_id: str) -> HttpResponse:
    """Show the last test of a finding; the form tests it again."""
    website, names_account = _website_for_method(request, host)
    if not FINDING_ID.fullmatch(finding_id):
        raise Http404
    if request.method == "POST":
        _retest(request, website, finding_id)
        return redirect(url_of("retest", website, finding_id, names_account=names_account))
    try:
        found = service.get_scans(website, ScansRequest(finding_id=finding_id, page_size=1))
    except CallError as error:
        error_page = website_error_page(error, website, request.user)
        context = {"error_page": error_page, "page": {"url": request.get_full_path(), "host": host}}
        return render(request, "portal/scans/retest.html", context, status=error_page.status)
    page = retest_page(
        website,
        finding_id,
        next(iter(found.jobs), None),
        names_account=names_account,
        may_check=manages(request, website),
        notices=[str(message) for message in messages.get_messages(request)],
    )
    if request.htmx and "running" in request.GET and not page.is_running:
        return HttpResponseClientRefresh()
    return render(request, "portal/scans/retest.html", {"page": page})


def _retest(request: HtmxHttpRequest, website: Website, finding_id: str) -> None:
    """Test a finding now, or add a message why that is not possible; raises Http404."""
    try:
        answer = service.scan(website, ScanRequest(finding_id=finding_id))
    except UnknownFinding as error:
        raise Http404 from error
    except ScanRefused as refusal:
        messages.warning(request, _refusal(refusal))
    except CallError as error:
        messages.warning(request, _failure(error, website.host))
    else:
        if answer.job.finding_id == finding_id and answer.job.ended_at is not None:
            messages.info(request, _("This was retested less than a minute ago. Wait a moment, then retest."))
        elif answer.job.finding_id == finding_id:
            if not answer.already:
                audit("website.finding_retested", website, after={"finding": finding_id})
        else:
            messages.info(request, _("Another scan of this website is running. Retest when it has ended."))


@require_POST
@members_only
def cancel_scan(request: HtmxHttpRequest, host: str, job_id: int) -> HttpResponse:
    """Cancel a scan of the website, as an owner or a manager."""
    website, names_account = _own_website(request, host)
    if not 0 < job_id < MAX_JOB_ID:
        raise Http404
    try:
        scan = service.cancel_scan(website, str(job_id)).job
    except UnknownScan as error:
        raise Http404 from error
    except CallError as error:
        messages.warning(request, _failure(error, host))
    else:
        has_ended = scan.state in ("finished", "failed")
        if not has_ended:
            audit("website.scan_cancelled", website)
        messages.info(request, _("The scan had ended already.") if has_ended else _("The scan is cancelled."))
    return redirect(url_of("scans", website, names_account=names_account))


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def confirm_page(request: HtmxHttpRequest, host: str, job_id: int) -> HttpResponse:
    """Compare the page that a scan met with the known one; the form confirms it and scans again."""
    website, names_account = _website_for_method(request, host)
    if not 0 < job_id < MAX_JOB_ID:
        raise Http404
    if request.method == "POST":
        _confirm_page(request, website, job_id)
        return redirect(url_of("scans", website, names_account=names_account))
    try:
        scan = service.scan_status(website, str(job_id)).job
    except UnknownScan as error:
        raise Http404 from error
    except CallError as error:
        error_page = website_error_page(error, website, request.user)
        context = {"error_page": error_page, "page": {"url": request.get_full_path(), "host": host}}
        return render(request, "portal/scans/page_change.html", context, status=error_page.status)
    page = page_change_page(website, scan, names_account=names_account, may_confirm=manages(request, website))
    if page is None:
        raise Http404
    return render(request, "portal/scans/page_change.html", {"page": page})


def _confirm_page(request: HtmxHttpRequest, website: Website, job_id: int) -> None:
    """Confirm the page that a scan met, and start a scan that counts; raises Http404."""
    try:
        answer = service.scan(website, ScanRequest(confirmed_page=str(job_id)))
    except UnknownScan as error:
        raise Http404 from error
    except ScanRefused as refusal:  # the service has already recorded the confirmation
        messages.warning(request, _("Confirmed. The next scan decides.") + f" {_refusal(refusal)}")
    except CallError as error:
        messages.warning(request, _failure(error, website.host))
        return
    else:
        text = _("Confirmed. Another scan runs already: scan again when it has ended.")
        messages.success(request, text if answer.already else _("Confirmed. This scan decides."))
    audit("website.page_confirmed", website, after={"scan": str(job_id)})


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def schedule_scans(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Set the schedule of the website's scans, as an owner or a manager.

    An invalid form is shown at this URL, so a GET of it redirects to the page of scans.
    """
    website, names_account = _website_for_method(request, host)
    back = redirect(url_of("scans", website, names_account=names_account))
    if request.method != "POST":
        return back
    form = ScheduleForm(request.POST)
    if not form.is_valid():
        return _refused_schedule(request, website, form, names_account=names_account)
    values = form.cleaned_data
    wants = values["consent"] and values["profile"] == DEEP  # the box is hidden for other scans
    agrees = wants and _may_consent(request, website)
    values["consent"] = agrees or None
    try:
        service.scan_rules(website, ScanScheduleRequest(**values))
    except ScanRefused as refusal:
        _record_consent(website, agrees=agrees)
        form.add_error(None, _refusal(refusal))
        return _refused_schedule(request, website, form, names_account=names_account)
    except CallError as error:
        messages.warning(request, _failure(error, host))
        return back
    del values["consent"]
    _record_consent(website, agrees=agrees)
    audit("website.scans_scheduled", website, after={name: str(value) for name, value in values.items()})
    messages.success(request, _("Saved."))
    return back


def _refused_schedule(
    request: HtmxHttpRequest, website: Website, form: ScheduleForm, *, names_account: bool
) -> HttpResponse:
    messages.warning(request, _("Nothing was changed. The form of the schedule says why."))
    return _render_scans(request, website, names_account=names_account, refused=form)


def _record_consent(website: Website, *, agrees: bool) -> None:
    """Record an owner's consent to deep scans if the service stored it, even if it refused the scan."""
    with suppress(CallError):
        if agrees and service.scan_rules(website, ScanScheduleRequest()).consent_until:
            audit("website.deep_scans_agreed", website)


def _website(request: HtmxHttpRequest, host: str) -> tuple[Website, bool]:
    """Return a website that the person may see, and whether its URLs name the account: several have it."""
    website, candidates = get_website(request, host)
    return website, len(candidates) > 1


def _own_website(request: HtmxHttpRequest, host: str) -> tuple[Website, bool]:
    """Return a website that the person may scan; raises Http404."""
    website, names_account = _website(request, host)
    if not manages(request, website):
        raise Http404
    return website, names_account


def _website_for_method(request: HtmxHttpRequest, host: str) -> tuple[Website, bool]:
    """Return the website; a POST needs one that the person may scan. Raises Http404."""
    return _own_website(request, host) if request.method == "POST" else _website(request, host)


def _may_consent(request: HtmxHttpRequest, website: Website) -> bool:
    owned = Membership.objects.of_user(request.user).owners()
    return owned.filter(account=website.account_id).exists()


def _refusal(refusal: ScanRefused) -> str:
    text = str(labels.NOT_SCANNABLE.get(refusal.detail.reason) or labels.REFUSALS[refusal.code])
    if refusal.detail.allowed_at is None:
        return text
    at = _("%(moment)s UTC") % {"moment": words.moment(refusal.detail.allowed_at)}
    return f"{text} " + _("The next scan can begin at %(time)s.") % {"time": at}


def _failure(error: CallError, host: str) -> str:
    error_page = logged_error_page(error, host)
    return f"{error_page.title}. {error_page.advice}"
