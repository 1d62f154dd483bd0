"""Requests to the dashboard service, with the settings and the accounts of this deployment."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.utils.module_loading import import_string
from django.views.decorators.debug import sensitive_variables

from foundation.sealing import CannotUnseal
from portal.gateway import (
    Calls,
    CallsRequest,
    Changes,
    ChangesRequest,
    ClaimCheckRequest,
    ClaimRequest,
    ClaimsRequest,
    ClaimWithdrawRequest,
    Dashboard,
    DashboardRequest,
    FindingResponse,
    InactiveEntitlement,
    LinkedSite,
    Misconfigured,
    Refused,
    RevokedLink,
    Service,
    SigningAccount,
    UnknownLink,
    WebsiteClaim,
    fetch_calls,
    fetch_changes,
    fetch_claims,
    fetch_dashboard,
    fetch_finding,
    send_claim,
)
from portal.models import Account, LastAnswer, Website, WebsiteSummary

CLAIMS_PAGE_SIZE = 100  # the service's limit
MAX_CLAIMS = 2_000


def get_dashboard(website: Website, request: DashboardRequest, *, stores_summary: bool = True) -> Dashboard:
    """Return the dashboard of ``website``, filtered by ``request``; raises GatewayError.

    The website's summary is stored: a dashboard without its lists if ``stores_summary``, or a refusal. Call
    this outside any open transaction: a service in this process uses the same connection.
    """
    try:
        with _access_checked(website):
            dashboard = fetch_dashboard(configured_service(), linked_site(website), request)
    except (InactiveEntitlement, RevokedLink, UnknownLink) as refusal:
        WebsiteSummary.objects.store(website, refusal=refusal.code)
        raise
    if stores_summary:
        WebsiteSummary.objects.store(website, dashboard=dashboard)
    return dashboard


def get_finding(website: Website, finding_id: str, list_request: DashboardRequest) -> FindingResponse:
    """Return one finding of ``website``, which the list of ``list_request`` may hold; raises GatewayError."""
    with _access_checked(website):
        return fetch_finding(configured_service(), linked_site(website), finding_id, list_request)


def get_changes_since(website: Website, *, cursor: str, min_severity: str) -> Changes:
    """Return the changes of ``website`` after ``cursor``; raises GatewayError."""
    return _get_changes(website, ChangesRequest(since=cursor, min_severity=min_severity))


def get_recent_changes(website: Website, *, days: int, min_severity: str) -> Changes:
    """Return the changes of ``website`` in the last ``days``, today included; raises GatewayError."""
    return _get_changes(website, ChangesRequest(days=days, min_severity=min_severity))


def get_changes_of_next_import(website: Website, *, cursor: str, min_severity: str) -> Changes:
    """Return the changes by the first import after ``cursor``, and whether there are more.

    Raises GatewayError.
    """
    request = ChangesRequest(since=cursor, min_severity=min_severity, until="next_import")
    return _get_changes(website, request)


def _get_changes(website: Website, request: ChangesRequest) -> Changes:
    with _access_checked(website):
        return fetch_changes(configured_service(), linked_site(website), request)


def get_calls(account: Account, request: CallsRequest) -> Calls:
    """Return the signed calls of ``account`` that are on record; raises GatewayError."""
    return fetch_calls(configured_service(), _signer_of(account), request)


def get_claims(account: Account) -> list[WebsiteClaim]:
    """Return the claims of ``account`` that have not ended, at most MAX_CLAIMS; raises GatewayError."""
    claims: list[WebsiteClaim] = []
    for page in range(1, MAX_CLAIMS // CLAIMS_PAGE_SIZE + 1):
        request = ClaimsRequest(page=page, page_size=CLAIMS_PAGE_SIZE)
        response = fetch_claims(configured_service(), _signer_of(account), request)
        claims += response.claims
        if len(claims) >= response.total or not response.claims:
            break
    return claims


def send(account: Account, request: ClaimRequest | ClaimCheckRequest | ClaimWithdrawRequest) -> WebsiteClaim:
    """Make, check or withdraw a claim of ``account``; raises GatewayError. A check can take 30 seconds."""
    return send_claim(configured_service(), _signer_of(account), request)


def _signer_of(account: Account) -> SigningAccount:
    return SigningAccount(account_ref=account.ref, secret=_secret_of(account))


@contextmanager
def _access_checked(website: Website) -> Iterator[None]:
    """Delete the stored answers about ``website`` if the service refuses access to it."""
    try:
        yield
    except Refused as refusal:
        if refusal.status in (401, 403) or isinstance(refusal, UnknownLink):
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
        ca_file=settings.DASHBOARD_CA_FILE,
    )


def linked_site(website: Website) -> LinkedSite:
    """Return ``website`` as the gateway needs it; raises Misconfigured without a usable secret."""
    return LinkedSite(
        host=website.host,
        link_id=website.link_id,
        account_ref=website.account.ref,
        secret=_secret_of(website.account),
    )


@sensitive_variables()
def _secret_of(account: Account) -> str:
    """Return the secret that signs the calls of ``account``; raises Misconfigured without a usable one."""
    try:
        return account.reveal_secret()
    except CannotUnseal as error:
        lost = (
            "MASTER_KEYS holds no key that opens it; put that key back, or " if account.sealed_secret else ""
        )
        raise Misconfigured(
            f"There is no usable secret for {account.ref}: {lost}"
            f"run 'manage.py connect_account {account.ref}'."
        ) from error
