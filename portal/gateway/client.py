"""Calls to the service, with at most one retry and one deadline (contract, "Portal's duties as a client")."""

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import msgspec

from foundation.deadline import Deadline
from foundation.metrics import count_upstream
from portal.gateway import bulkhead
from portal.gateway.errors import (
    BadResponse,
    CannotConnect,
    ClaimEnded,
    ClaimRefused,
    GatewayError,
    InactiveEntitlement,
    RateLimited,
    RevokedLink,
    ScanRefused,
    SignatureRefused,
    UnknownClaim,
    UnknownFinding,
    UnknownLink,
    UnknownScan,
    UnknownScanner,
)
from portal.gateway.exchange import Exchange, attempt
from portal.gateway.health import Health, health_of
from portal.gateway.messages import (
    AccountChanges,
    AccountChangesRequest,
    AccountPlan,
    AccountWebsites,
    AnyRequest,
    Calls,
    CallsRequest,
    Changes,
    ChangesRequest,
    ClaimAction,
    ClaimCheckRequest,
    ClaimResponse,
    Claims,
    ClaimsRequest,
    Dashboard,
    DashboardRequest,
    EntitlementRequest,
    Finding,
    FindingRequest,
    FindingResponse,
    Publicity,
    PublicityRequest,
    ScanCancelRequest,
    ScanRequest,
    ScanResponse,
    ScanRules,
    ScanRulesRequest,
    Scans,
    ScansRequest,
    ScanStatusRequest,
    Secrets,
    SecretsRequest,
    WebsiteClaim,
    WebsitesRequest,
)
from portal.gateway.responses import is_outage, lacks_route, read_response
from portal.gateway.target import LinkedSite, Service, SigningAccount

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 0.2  # before a retry for which the service names no time
CHECK_SECONDS = 30  # for the check of a claim: 12 for the website, the rest for names and queues
MAX_SLOW_CALLS = 1  # at once, in one process, as the service allows
_RETRIED = {429, 502, 503, 504}

# Errors that the customer's own state explains: the operator has nothing to do.
_EXPECTED = (
    InactiveEntitlement,
    RevokedLink,
    UnknownLink,
    UnknownFinding,
    UnknownClaim,
    ClaimRefused,
    ClaimEnded,
    UnknownScan,
    UnknownScanner,
    ScanRefused,
    RateLimited,
)


def fetch_dashboard(service: Service, site: LinkedSite, request: DashboardRequest) -> Dashboard:
    """Return the dashboard of ``site``, filtered by ``request``; raises GatewayError."""
    with _logged(site):
        return read_response(send(service, site, request), Dashboard, host=site.host)


def fetch_finding(
    service: Service, site: LinkedSite, finding_id: str, list_request: DashboardRequest
) -> FindingResponse:
    """Return one finding of ``site``; raises GatewayError.

    A service without this call gets ``list_request`` instead, and the finding is taken from that list.
    """
    with _logged(site):
        exchange = send(service, site, FindingRequest(finding_id=finding_id))
        if not lacks_route(exchange):
            response = read_response(exchange, FindingResponse, host=site.host)
            if response.finding.id != finding_id:
                raise BadResponse("the response is about another finding")
            return response
        dashboard = read_response(send(service, site, list_request), Dashboard, host=site.host)
        return _finding_from_list(dashboard, finding_id)


def fetch_changes(service: Service, site: LinkedSite, request: ChangesRequest) -> Changes:
    """Return new findings, regressions and notes of ``site``; raises GatewayError.

    A service without this call leads to Rejected.
    """
    with _logged(site):
        return read_response(send(service, site, request), Changes, host=site.host)


def fetch_calls(service: Service, account: SigningAccount, request: CallsRequest) -> Calls:
    """Return calls of ``account``; raises GatewayError."""
    with _logged(account):
        return read_response(send(service, account, request), Calls)


def fetch_account_changes(service: Service, account: SigningAccount) -> AccountChanges:
    """Return the versions of the account's websites; raises GatewayError."""
    with _logged(account):
        return read_response(send(service, account, AccountChangesRequest()), AccountChanges)


def fetch_entitlement(service: Service, account: SigningAccount) -> AccountPlan:
    """Return the plan of ``account``, in every state; raises GatewayError."""
    with _logged(account):
        return read_response(send(service, account, EntitlementRequest()), AccountPlan)


def fetch_claims(service: Service, account: SigningAccount, request: ClaimsRequest) -> Claims:
    """Return a page of the claims of ``account``; raises GatewayError."""
    with _logged(account):
        return read_response(send(service, account, request), Claims)


def send_claim(
    service: Service,
    account: SigningAccount,
    request: ClaimAction,
) -> WebsiteClaim:
    """Make, check, withdraw or answer a claim of ``account``, and return it; raises GatewayError."""
    with _logged(account):
        return read_response(send(service, account, request), ClaimResponse).claim


def send_publicity(service: Service, account: SigningAccount, request: PublicityRequest) -> Publicity:
    """Read or change what may be published about the websites of ``account``; raises GatewayError."""
    with _logged(account):
        return read_response(send(service, account, request), Publicity)


def send_websites(service: Service, account: SigningAccount, request: WebsitesRequest) -> AccountWebsites:
    """Read or choose the websites of ``account`` that stay in its plan; raises GatewayError."""
    with _logged(account):
        return read_response(send(service, account, request), AccountWebsites)


def send_secrets(service: Service, account: SigningAccount, request: SecretsRequest) -> Secrets:
    """List the secrets of ``account``, after a change of them; raises GatewayError."""
    with _logged(account):
        return read_response(send(service, account, request), Secrets)


def fetch_scans(service: Service, site: LinkedSite, request: ScansRequest) -> Scans:
    """Return a page of the scans of ``site``; raises GatewayError."""
    with _logged(site):
        return read_response(send(service, site, request), Scans, host=site.host)


def send_scan_rules(service: Service, site: LinkedSite, request: ScanRulesRequest) -> ScanRules:
    """Read what may be scanned and when, or change when; raises GatewayError."""
    with _logged(site):
        return read_response(send(service, site, request), ScanRules, host=site.host)


def send_scan(
    service: Service, site: LinkedSite, request: ScanRequest | ScanStatusRequest | ScanCancelRequest
) -> ScanResponse:
    """Begin, read or cancel a scan of ``site``; raises GatewayError."""
    with _logged(site):
        return read_response(send(service, site, request), ScanResponse, host=site.host)


def _finding_from_list(dashboard: Dashboard, finding_id: str) -> FindingResponse:
    """Return a finding of the list in ``dashboard``; raises UnknownFinding."""
    threat = next((threat for threat in dashboard.threats if threat.id == finding_id), None)
    if threat is None:
        raise UnknownFinding
    return FindingResponse(
        ok=True,
        host=dashboard.host,
        finding=Finding(**msgspec.structs.asdict(threat)),
        analyst_notes=[note for note in dashboard.analyst_notes if note.finding_id == finding_id],
    )


def send(service: Service, site: SigningAccount, request: AnyRequest) -> Exchange:
    """Send ``request``, with one retry if that is safe, and return the last exchange.

    A change that a repetition would make again is only sent again if nothing was sent. The check of a claim
    has a longer deadline, and is sent once. Raises TooManyCalls or ServiceDown if
    nothing was sent; Unreachable, TimedOut or BadResponse if no complete response arrived.
    """
    is_slow = isinstance(request, ClaimCheckRequest)
    deadline = Deadline(max(service.timeout_seconds, CHECK_SECONDS if is_slow else 0))
    call = partial(
        attempt,
        service.base_url + request.path,
        request_body(site, request),
        secret=site.secret,
        deadline=deadline,
        ca_file=service.ca_file,
        application=service.application,
    )
    if service.application:  # no connection that could fail, so no retry
        return call()
    health = health_of(service.base_url)
    patience = min(service.patience_seconds, deadline.remaining()) if health.is_good() else 0
    with bulkhead.calls.place(service.max_concurrent_calls, patience=patience):
        if not is_slow:
            changes_again = isinstance(request, SecretsRequest) and request.changes_again
            return _call_up_to_twice(call, health, deadline, changes_again=changes_again)
        with bulkhead.slow_calls.place(MAX_SLOW_CALLS):
            health.check()
            return call()  # a website that answers slowly says nothing about the service


def _call_up_to_twice(
    call: Callable[[], Exchange], health: Health, deadline: Deadline, *, changes_again: bool
) -> Exchange:
    """Return the result of ``call``, after a retry if the first failure may be temporary."""
    health.begin_call()
    call = partial(_watched, call, health)
    try:
        first = call()
    except CannotConnect:
        if not (deadline.allows(PAUSE_SECONDS) and health.take_retry()):
            raise
        pause = PAUSE_SECONDS
    else:
        pause = math.inf if changes_again else _pause_after(first)
        if not (deadline.allows(pause) and health.take_retry()):
            return first
    time.sleep(pause)
    return call()


def _watched(call: Callable[[], Exchange], health: Health) -> Exchange:
    """Return the result of ``call``, and record whether the service works; raises ServiceDown, too."""
    health.check()
    try:
        exchange = call()
    except GatewayError as error:
        health.record(failed=not isinstance(error, BadResponse))
        raise
    health.record(failed=is_outage(exchange))
    return exchange


def request_body(site: SigningAccount, request: AnyRequest) -> bytes:
    """Return the request of the specification, section 2, as compact JSON without empty filters."""
    filters = {
        name: value for name, value in msgspec.structs.asdict(request).items() if value not in ("", None)
    }
    return msgspec.json.encode({**site.fields, **filters})


def _pause_after(exchange: Exchange) -> float:
    """Return the seconds to wait before a retry: infinity if there must be none."""
    if exchange.status not in _RETRIED:
        return math.inf
    if exchange.retry_after is not None:
        return exchange.retry_after
    # A 429 without a time, or a time that is a date, does not allow a retry now.
    asks_to_wait = exchange.status == 429 or "retry-after" in exchange.headers
    return math.inf if asks_to_wait else PAUSE_SECONDS


@contextmanager
def _logged(site: SigningAccount) -> Iterator[None]:
    """Count each call, and log one line for each failure; never a body, a secret or a signature."""
    try:
        yield
        count_upstream("ok")
    except GatewayError as error:
        count_upstream(type(error).__name__)
        skew = error.skew_seconds if isinstance(error, SignatureRefused) else None
        logger.log(
            logging.INFO if isinstance(error, _EXPECTED) else logging.WARNING,
            "%s: %s: %s; request id %s%s",
            site.name,
            type(error).__name__,
            error,
            error.request_id or "unknown",
            "" if skew is None else f"; our clock is {skew:+d} s from the service's",
            extra={"account": site.account_ref},
        )
        raise
