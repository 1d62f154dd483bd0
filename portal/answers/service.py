"""Calls to the dashboard service with this deployment's settings and accounts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from django.conf import settings
from django.utils.module_loading import import_string
from django.views.decorators.debug import sensitive_variables

from foundation.outbound.deadline import Deadline
from foundation.sealing import CannotUnseal
from portal.gateway.client import call
from portal.gateway.errors import Misconfigured
from portal.gateway.target import Service, SigningAccount
from portal.models import Account, LastAnswer, Website, WebsiteSummary
from signed_api.account import (
    ACCOUNT_CHANGES,
    CALLS,
    PUBLICITY,
    SECRETS,
    AccountChangesRequest,
    CallsRequest,
    CallsResponse,
    PublicityRequest,
    PublicityResponse,
    SecretsRequest,
    SecretsResponse,
)
from signed_api.answering import (
    ANSWER,
    ANSWER_LIST,
    ANSWER_RULES,
    MESSAGE,
    AnswerRequest,
    AnswerResponse,
    AnswerRulesRequest,
    AnswerRulesResponse,
    AnswersRequest,
    AnswersResponse,
    MessageRequest,
    MessageResponse,
)
from signed_api.billing import (
    ENTITLEMENT,
    WEBSITES,
    EntitlementRequest,
    EntitlementResponse,
    WebsitesRequest,
    WebsitesResponse,
)
from signed_api.claims import CLAIMS, ClaimResponse, ClaimsRequest, WebsiteClaim
from signed_api.compare import COMPARE, CompareRequest, CompareResponse
from signed_api.errors import CallError, InactiveEntitlement, Refused, RevokedLink, UnknownLink
from signed_api.findings import (
    CHANGES,
    DASHBOARD,
    FINDING,
    ChangesRequest,
    ChangesResponse,
    DashboardRequest,
    DashboardResponse,
    FindingRequest,
    FindingResponse,
)
from signed_api.inventory import (
    INVENTORY,
    LAST_DAYS,
    SCRIPT,
    InventoryRequest,
    InventoryResponse,
    LastDaysRequest,
    LastDaysResponse,
    ScriptRequest,
    ScriptResponse,
)
from signed_api.limits import MAX_PAGE_SIZE
from signed_api.routes import Request, Response, Route
from signed_api.scans import (
    SCAN,
    SCAN_CANCEL,
    SCAN_SCHEDULE,
    SCAN_STATUS,
    SCANS,
    ScanCancelRequest,
    ScanRequest,
    ScanResponse,
    ScanScheduleRequest,
    ScanScheduleResponse,
    ScansRequest,
    ScansResponse,
    ScanStatusRequest,
    ScanStatusResponse,
)

Versions = Mapping[int, Mapping[str, str]]  # versions of websites by account id and link id

_NO_ACCESS = (InactiveEntitlement, RevokedLink, UnknownLink)
_PAGE_SECONDS = 2  # limit for the call of each account, and for all refreshed websites together
MAX_CLAIMS = 2_000
PATIENCE_SECONDS = 5  # a page waits this long for its turn to call the service over HTTP


def get_dashboard(
    website: Website, request: DashboardRequest, *, stores_summary: bool = True
) -> DashboardResponse:
    """Return the dashboard of ``website``, filtered by ``request``; raises CallError.

    With ``stores_summary``, it stores the dashboard without its lists as the website's summary. Call this
    outside any open transaction: a service in this process uses the same connection.
    """
    dashboard = _site_call(website, DASHBOARD, request)
    if stores_summary:
        WebsiteSummary.objects.store(website, dashboard=dashboard)
    return dashboard


def _reason(refusal: InactiveEntitlement | RevokedLink | UnknownLink) -> str:
    """Return the key of ``labels.REFUSALS`` that explains why a website shows no results."""
    if isinstance(refusal, InactiveEntitlement):
        if refusal.detail.starts_on is not None:
            return "plan_not_started"
        if refusal.detail.status == "suspended":
            return "plan_suspended"
        if refusal.detail.reason == "websites_limit":
            return refusal.detail.reason
    return refusal.code


def get_finding(website: Website, finding_id: str) -> FindingResponse:
    """Return one finding of ``website``; raises CallError."""
    return _site_call(website, FINDING, FindingRequest(finding_id=finding_id))


def get_changes_since(website: Website, *, cursor: str, min_severity: str) -> ChangesResponse:
    """Return the changes of ``website`` after ``cursor``; raises CallError."""
    return _site_call(website, CHANGES, ChangesRequest(since=cursor, min_severity=min_severity))


def get_recent_changes(website: Website, *, days: int, min_severity: str) -> ChangesResponse:
    """Return the changes of ``website`` in the last ``days``, today included; raises CallError."""
    return _site_call(website, CHANGES, ChangesRequest(days=days, min_severity=min_severity))


def get_changes_of_next_import(website: Website, *, cursor: str, min_severity: str) -> ChangesResponse:
    """Return the changes by the first import after ``cursor``; the response says whether more follow.

    Raises CallError.
    """
    request = ChangesRequest(since=cursor, min_severity=min_severity, until="next_import")
    return _site_call(website, CHANGES, request)


def get_calls(account: Account, request: CallsRequest) -> CallsResponse:
    """Return the recorded signed calls of ``account``; raises CallError."""
    return _account_call(account, CALLS, request)


def get_versions(account: Account, *, seconds: float | None = None) -> dict[str, str]:
    """Return the version of each linked website of ``account`` by link id; raises CallError."""
    service = configured_service()
    timeout = min(service.timeout_seconds, seconds or service.timeout_seconds)
    service = replace(service, timeout_seconds=timeout)
    changes = call(service, _signer_of_account(account), ACCOUNT_CHANGES, AccountChangesRequest())
    return {website.link_id: website.version for website in changes.websites}


def versions_of(accounts: Iterable[Account], *, seconds: float | None = None) -> Versions:
    """Return the versions of the accounts' websites, without accounts that could not be called.

    An account without an active plan has no websites.
    """
    found: dict[int, dict[str, str]] = {}
    for account in accounts:
        try:
            found[account.pk] = get_versions(account, seconds=seconds)
        except InactiveEntitlement:
            found[account.pk] = {}
        except CallError:
            continue
    return found


def refresh_for_page(websites: Sequence[Website]) -> None:
    """Refresh the stored numbers of changed websites before a page lists them."""
    versions = versions_of({website.account for website in websites}, seconds=_PAGE_SECONDS)
    refresh_summaries(websites, versions, seconds=_PAGE_SECONDS)


def refresh_summaries(websites: Iterable[Website], versions: Versions, *, seconds: float) -> int:
    """Refresh the stored numbers of websites that changed later, and return how many were refreshed.

    It starts no further call after ``seconds``, and skips an account once one of its calls failed.
    """
    deadline, count = Deadline(seconds), 0
    websites = [website for website in websites if website.account_id in versions]
    stored = WebsiteSummary.objects.in_bulk(website.pk for website in websites)
    failing: set[int] = set()
    for website in websites:
        version = versions[website.account_id].get(website.link_id, "")
        is_current = website.pk in stored and stored[website.pk].is_current(version)
        is_late = not deadline.allows(0)  # seconds of a pause before the next call
        if is_current or website.account_id in failing or is_late:
            continue
        try:
            get_dashboard(website, DashboardRequest(page_size=1))
        except _NO_ACCESS:
            pass  # the refusal is stored instead of numbers
        except CallError:
            failing.add(website.account_id)
            continue
        WebsiteSummary.objects.filter(website_id=website.pk).update(version=version)
        count += 1
    return count


def get_entitlement(account: Account) -> EntitlementResponse:
    """Return the plan of ``account`` in any state; raises CallError."""
    return _account_call(account, ENTITLEMENT, EntitlementRequest())


def get_claims(account: Account) -> list[WebsiteClaim]:
    """Return the open and the recently ended claims of ``account``, at most MAX_CLAIMS; raises CallError."""
    claims: list[WebsiteClaim] = []
    for page in range(1, MAX_CLAIMS // MAX_PAGE_SIZE + 1):
        request = ClaimsRequest(page=page, page_size=MAX_PAGE_SIZE)
        response = _account_call(account, CLAIMS, request)
        claims += response.claims
        if len(claims) >= response.total or not response.claims:
            break
    return claims


def get_claim_to(account: Account, host: str) -> WebsiteClaim | None:
    """Return the account's open or recently ended claim to ``host``; raises CallError."""
    request = ClaimsRequest(host=host)
    claims = _account_call(account, CLAIMS, request).claims
    return next((claim for claim in claims if claim.host == host), None)


def get_claim(account: Account, claim_id: str) -> WebsiteClaim | None:
    """Return a claim of ``account``, open or ended; raises CallError."""
    request = ClaimsRequest(claim_id=claim_id)
    claims = _account_call(account, CLAIMS, request).claims
    return next((claim for claim in claims if claim.claim_id == claim_id), None)


def claim(account: Account, route: Route[Request, ClaimResponse], request: Request) -> WebsiteClaim:
    """Make, check or withdraw a claim of ``account``, and return it; raises CallError.

    A check can take 30 seconds.
    """
    return _account_call(account, route, request).claim


def publicity_of(account: Account, request: PublicityRequest) -> PublicityResponse:
    """Apply the request's change, if any, and return what may be published; raises CallError."""
    return _account_call(account, PUBLICITY, request)


def websites_of(account: Account, request: WebsitesRequest) -> WebsitesResponse:
    """Apply the request's choice, if any, and return the websites that the plan covers; raises CallError."""
    return _account_call(account, WEBSITES, request)


def secrets_of(account: Account, request: SecretsRequest) -> SecretsResponse:
    """Issue or retire a secret if requested, and return the account's working secrets; raises CallError."""
    return _account_call(account, SECRETS, request)


def compare(website: Website, request: CompareRequest) -> CompareResponse:
    """Return two runs of one scanner of ``website`` compared; raises CallError."""
    return _site_call(website, COMPARE, request)


def answer(website: Website, request: AnswerRequest) -> AnswerResponse:
    """Answer findings of ``website``, or preview that; raises CallError."""
    return _site_call(website, ANSWER, request)


def get_answers(website: Website, request: AnswersRequest) -> AnswersResponse:
    """Return a page of the account's answers about ``website``, the newest first; raises CallError."""
    return _site_call(website, ANSWER_LIST, request)


def write_message(website: Website, request: MessageRequest) -> MessageResponse:
    """Write to the analysts about a finding of ``website``, or change a message; raises CallError."""
    return _site_call(website, MESSAGE, request)


def answer_rules_of(account: Account, request: AnswerRulesRequest) -> AnswerRulesResponse:
    """Apply the request's rules, if any, and return the account's rules about answers; raises CallError."""
    return _account_call(account, ANSWER_RULES, request)


def get_scans(website: Website, request: ScansRequest) -> ScansResponse:
    """Return a page of the scans of ``website``, the newest first; raises CallError."""
    return _site_call(website, SCANS, request)


def scan_rules(website: Website, request: ScanScheduleRequest) -> ScanScheduleResponse:
    """Apply the request's schedule, if any, and return what may be scanned and when; raises CallError."""
    return _site_call(website, SCAN_SCHEDULE, request)


def scan(website: Website, request: ScanRequest) -> ScanResponse:
    """Start a scan of ``website``; raises CallError."""
    return _site_call(website, SCAN, request)


def scan_status(website: Website, job_id: str) -> ScanStatusResponse:
    """Return a scan of ``website``; raises CallError."""
    return _site_call(website, SCAN_STATUS, ScanStatusRequest(job_id=job_id))


def cancel_scan(website: Website, job_id: str) -> ScanStatusResponse:
    """Cancel a scan of ``website``, and return it; raises CallError."""
    return _site_call(website, SCAN_CANCEL, ScanCancelRequest(job_id=job_id))


def get_inventory(website: Website) -> InventoryResponse:
    """Return the certificates, the domain and the scripts that scans of ``website`` saw; raises CallError."""
    return _site_call(website, INVENTORY, InventoryRequest())


def change_script(website: Website, request: ScriptRequest) -> ScriptResponse:
    """Pin or unpin a script of ``website``, or accept its host; raises CallError."""
    return _site_call(website, SCRIPT, request)


def get_last_days(account: Account, request: LastDaysRequest) -> LastDaysResponse:
    """Return when certificates and domains of the account's websites end; raises CallError."""
    return _account_call(account, LAST_DAYS, request)


def _site_call(website: Website, route: Route[Request, Response], request: Request) -> Response:
    with _access_checked(website):
        return call(configured_service(), signer_of_website(website), route, request)


def _account_call(account: Account, route: Route[Request, Response], request: Request) -> Response:
    return call(configured_service(), _signer_of_account(account), route, request)


def _signer_of_account(account: Account) -> SigningAccount:
    return SigningAccount(account_ref=account.ref, secret=_secret_of(account))


@contextmanager
def _access_checked(website: Website) -> Iterator[None]:
    """Delete the stored answers about ``website`` if the service refuses access to it.

    The reason replaces its summary, so that no list shows old results.
    """
    try:
        yield
    except Refused as refusal:
        if isinstance(refusal, _NO_ACCESS):
            WebsiteSummary.objects.store(website, refusal=_reason(refusal))
        if refusal.status in (401, 403) or isinstance(refusal, UnknownLink):  # UnknownLink is a 404
            LastAnswer.objects.discard(website.pk)
        raise


def is_in_process() -> bool:
    """Return whether the service is called directly in this process."""
    return bool(not settings.DASHBOARD_BASE_URL and settings.DASHBOARD_APPLICATION)


def configured_service() -> Service:
    """Return the service at DASHBOARD_BASE_URL, else the one in this process; raises Misconfigured."""
    if is_in_process():
        return Service(
            application=import_string(settings.DASHBOARD_APPLICATION),
            timeout_seconds=settings.DASHBOARD_TIMEOUT_SECONDS,
        )
    return Service(
        base_url=settings.DASHBOARD_BASE_URL,
        timeout_seconds=settings.DASHBOARD_TIMEOUT_SECONDS,
        max_concurrent_calls=settings.DASHBOARD_CALLS_AT_ONCE,
        # If the URL may lead to this process, a waiting page would hold a thread that must answer.
        patience_seconds=0 if settings.DASHBOARD_APPLICATION else PATIENCE_SECONDS,
        ca_file=settings.DASHBOARD_CA_FILE,
    )


def signer_of_website(website: Website) -> SigningAccount:
    """Return the account that signs calls about ``website``; raises Misconfigured without a usable secret."""
    return SigningAccount(
        host=website.host,
        link_id=website.link_id,
        account_ref=website.account.ref,
        secret=_secret_of(website.account),
    )


@sensitive_variables()
def _secret_of(account: Account) -> str:
    """Return the secret that signs the calls of ``account``; raises Misconfigured if it is unusable."""
    try:
        return account.reveal_secret()
    except CannotUnseal as error:
        key_advice = (
            "MASTER_KEYS holds no key that opens it; put that key back, or " if account.sealed_secret else ""
        )
        raise Misconfigured(
            f"There is no usable secret for {account.ref}: {key_advice}"
            f"run 'manage.py connect_account {account.ref}'."
        ) from error
