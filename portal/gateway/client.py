"""Asks the service: at most one retry, one deadline over all (contract, "Portal's duties as a client")."""

import logging
import math
import time
from functools import partial

import msgspec

from portal.gateway.answers import read_dashboard
from portal.gateway.deadline import Deadline
from portal.gateway.errors import (
    CannotConnect,
    GatewayError,
    InactiveEntitlement,
    RateLimited,
    RevokedLink,
    SignatureRefused,
    UnknownLink,
)
from portal.gateway.exchange import Exchange, attempt
from portal.gateway.messages import Dashboard, Question
from portal.gateway.target import LinkedSite, Upstream

logger = logging.getLogger(__name__)

DASHBOARD_PATH = "/v1/site/dashboard"
PAUSE_SECONDS = 0.2  # before a retry for which the service names no time
_RETRIED = {429, 502, 503, 504}

# What the customer's own state explains: nothing for the operator to do.
_EXPECTED = (InactiveEntitlement, RevokedLink, UnknownLink, RateLimited)


def fetch_dashboard(upstream: Upstream, site: LinkedSite, question: Question) -> Dashboard:
    """The dashboard of ``site`` as ``question`` narrows it; raises GatewayError."""
    try:
        return read_dashboard(send(upstream, site, question), host=site.host)
    except GatewayError as error:
        _log(site, error)
        raise


def send(upstream: Upstream, site: LinkedSite, question: Question) -> Exchange:
    """Ask, and once more where that is safe; whatever status came back last.

    Raises Unreachable, TimedOut or BadAnswer where no whole answer came back.
    """
    deadline = Deadline(upstream.timeout_seconds)
    ask = partial(
        attempt,
        upstream.base_url + DASHBOARD_PATH,
        request_body(site, question),
        secret=site.secret,
        deadline=deadline,
    )
    try:
        first = ask()
    except CannotConnect:
        if not deadline.allows(PAUSE_SECONDS):
            raise
        pause = PAUSE_SECONDS
    else:
        pause = _pause_after(first)
        if not deadline.allows(pause):
            return first
    time.sleep(pause)
    return ask()


def request_body(site: LinkedSite, question: Question) -> bytes:
    """The request of the specification, section 2, as compact JSON without empty filters."""
    filters = {name: value for name, value in msgspec.structs.asdict(question).items() if value != ""}
    return msgspec.json.encode(
        {"host": site.host, "link_id": site.link_id, "portal_account_ref": site.account_ref, **filters}
    )


def _pause_after(exchange: Exchange) -> float:
    """The seconds to wait before a retry: endless where there must be none."""
    if exchange.status not in _RETRIED:
        return math.inf
    if exchange.retry_after is not None:
        return exchange.retry_after
    # 429 without a time, and a time that is a date, give no leave to ask again now.
    asks_to_wait = exchange.status == 429 or "retry-after" in exchange.headers
    return math.inf if asks_to_wait else PAUSE_SECONDS


def _log(site: LinkedSite, error: GatewayError) -> None:
    """One line; never a body, a secret or a signature."""
    skew = error.skew_seconds if isinstance(error, SignatureRefused) else None
    logger.log(
        logging.INFO if isinstance(error, _EXPECTED) else logging.WARNING,
        "%s: %s: %s; request id %s%s",
        site.host,
        type(error).__name__,
        error,
        error.request_id or "unknown",
        "" if skew is None else f"; our clock is {skew:+d} s from the service's",
    )
