"""Calls to the service with one deadline and at most one retry (contract, "Portal's duties as a client")."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from foundation.operations.metrics import count_service_call
from foundation.operations.request_ids import HEADER, current_request_id
from portal.gateway import bulkhead
from portal.gateway.direct import DirectAdapter
from portal.gateway.health import health_of
from portal.gateway.target import Service, SigningAccount
from signed_api.client import encode, is_outage, read_response, up_to_twice
from signed_api.errors import (
    AlreadyAnswered,
    BadResponse,
    CallError,
    ClaimRefused,
    InactiveEntitlement,
    RateLimited,
    RevokedLink,
    ScanRefused,
    SelectionChanged,
    SignatureRefused,
    TooManyDisputes,
    UnknownClaim,
    UnknownFinding,
    UnknownLink,
    UnknownRun,
    UnknownScan,
    WrongState,
)
from signed_api.routes import Request, Response, Route
from signed_api.transport import Deadline, Exchange, attempt

logger = logging.getLogger(__name__)

MAX_SLOW_CALLS = 1  # concurrent, in one process, as the service allows

# Errors that the customer's own state explains; operators need not act.
_EXPECTED = (
    InactiveEntitlement,
    RevokedLink,
    UnknownLink,
    UnknownFinding,
    UnknownClaim,
    ClaimRefused,
    WrongState,
    UnknownScan,
    UnknownRun,
    ScanRefused,
    RateLimited,
    AlreadyAnswered,
    SelectionChanged,
    TooManyDisputes,
)


def call(
    service: Service, account: SigningAccount, route: Route[Request, Response], request: Request
) -> Response:
    """Send ``request`` for ``account``, and return the response; raises CallError."""
    with _logged(account):
        return read_response(send(service, account, route, request), route, host=account.host)


def send(service: Service, account: SigningAccount, route: Route[Request, Any], request: Request) -> Exchange:
    """Send ``request``, with one retry if that is safe, and return the last exchange.

    Raises TooManyCalls or ServiceDown before sending, and Unreachable, TimedOut or BadResponse without a
    complete response.
    """
    deadline = Deadline(max(service.timeout_seconds, route.seconds))
    request_id = current_request_id()
    send_once = partial(
        attempt,
        service.base_url + route.path,
        encode(request, **account.fields),
        secret=account.secret,
        deadline=deadline,
        headers={HEADER: request_id} if request_id else None,
        ca_file=service.ca_file,
        adapter=DirectAdapter(service.application) if service.application else None,
    )
    if service.application:  # no connection can fail in process, so no retry
        return send_once()
    health = health_of(service.base_url)

    def send_and_record() -> Exchange:
        """Send once, and record whether the service works."""
        health.check()
        try:
            exchange = send_once()
        except CallError as error:
            health.record(failed=not isinstance(error, BadResponse))
            raise
        health.record(failed=is_outage(exchange))
        return exchange

    patience = min(service.patience_seconds, deadline.remaining()) if health.is_good() else 0
    with bulkhead.calls.place(service.max_concurrent_calls, patience=patience):
        if not route.seconds:  # no call that may take much longer
            health.begin_call()
            return up_to_twice(
                send_and_record, deadline, is_repeatable=route.is_repeatable, may_retry=health.take_retry
            )
        with bulkhead.slow_calls.place(MAX_SLOW_CALLS):
            health.check()
            return send_once()  # not recorded: a slow website does not mean a slow service


@contextmanager
def _logged(account: SigningAccount) -> Iterator[None]:
    """Count each call, and log each failure in one line without bodies, secrets or signatures."""
    try:
        yield
        count_service_call("ok")
    except CallError as error:
        count_service_call(type(error).__name__)
        logger.log(
            logging.INFO if isinstance(error, _EXPECTED) else logging.WARNING,
            "%s: %s: %s; request id %s%s",
            account.name,
            type(error).__name__,
            error,
            error.request_id or "unknown",
            _skew(error),
            extra={"account": account.account_ref},
        )
        raise


def _skew(error: CallError) -> str:
    """Return the difference between the clocks if the service refused the signature and sent its time."""
    skew = error.skew_seconds if isinstance(error, SignatureRefused) else None
    return "" if skew is None else f"; our clock is {skew:+d} s from the service's"
