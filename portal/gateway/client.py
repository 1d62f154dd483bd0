"""Asks the service: at most one retry, one deadline over all (contract, "Portal's duties as a client")."""

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import msgspec

from foundation.deadline import Deadline
from portal.gateway import bulkhead
from portal.gateway.errors import (
    BadAnswer,
    CannotConnect,
    GatewayError,
    InactiveEntitlement,
    RateLimited,
    RevokedLink,
    SignatureRefused,
    UnknownFinding,
    UnknownLink,
)
from portal.gateway.exchange import Exchange, attempt
from portal.gateway.messages import (
    AnyQuestion,
    Changes,
    ChangesQuestion,
    Dashboard,
    Finding,
    FindingAnswer,
    FindingQuestion,
    Question,
)
from portal.gateway.responses import lacks_route, read_answer
from portal.gateway.target import LinkedSite, Upstream

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 0.2  # before a retry for which the service names no time
_RETRIED = {429, 502, 503, 504}

# What the customer's own state explains: nothing for the operator to do.
_EXPECTED = (InactiveEntitlement, RevokedLink, UnknownLink, UnknownFinding, RateLimited)


def fetch_dashboard(upstream: Upstream, site: LinkedSite, question: Question) -> Dashboard:
    """The dashboard of ``site`` as ``question`` narrows it; raises GatewayError."""
    with _logged(site):
        return read_answer(send(upstream, site, question), Dashboard, host=site.host)


def fetch_finding(upstream: Upstream, site: LinkedSite, finding_id: str, listed: Question) -> FindingAnswer:
    """One finding of ``site``; raises GatewayError.

    A service without this call is asked for the list ``listed``, and the finding is as that tells it.
    """
    with _logged(site):
        exchange = send(upstream, site, FindingQuestion(finding_id=finding_id))
        if not lacks_route(exchange):
            answer = read_answer(exchange, FindingAnswer, host=site.host)
            if answer.finding.id != finding_id:
                raise BadAnswer("another finding than the one asked for")
            return answer
        dashboard = read_answer(send(upstream, site, listed), Dashboard, host=site.host)
        return _from_the_list(dashboard, finding_id)


def fetch_changes(upstream: Upstream, site: LinkedSite, question: ChangesQuestion) -> Changes:
    """What is worse on ``site`` than before; raises GatewayError, Rejected without this call, too."""
    with _logged(site):
        return read_answer(send(upstream, site, question), Changes, host=site.host)


def _from_the_list(dashboard: Dashboard, finding_id: str) -> FindingAnswer:
    """What a list tells of a finding; raises UnknownFinding."""
    threat = next((threat for threat in dashboard.threats if threat.id == finding_id), None)
    if threat is None:
        raise UnknownFinding
    return FindingAnswer(
        ok=True,
        host=dashboard.host,
        finding=Finding(**msgspec.structs.asdict(threat)),
        analyst_notes=[note for note in dashboard.analyst_notes if note.finding_id == finding_id],
    )


def send(upstream: Upstream, site: LinkedSite, question: AnyQuestion) -> Exchange:
    """Ask, and once more where that is safe; whatever status came back last.

    Raises TooManyCalls where nothing was sent; Unreachable, TimedOut or BadAnswer where no whole answer
    came back.
    """
    deadline = Deadline(upstream.timeout_seconds)
    ask = partial(
        attempt,
        upstream.base_url + question.path,
        request_body(site, question),
        secret=site.secret,
        deadline=deadline,
        application=upstream.application,
    )
    if upstream.application:  # no connection that could fail, so no second try
        return ask()
    with bulkhead.waiting.place(upstream.calls_at_once):
        return _ask_up_to_twice(ask, deadline)


def _ask_up_to_twice(ask: Callable[[], Exchange], deadline: Deadline) -> Exchange:
    """Return the result of ``ask``, called a second time after a failure that may be temporary."""
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


def request_body(site: LinkedSite, question: AnyQuestion) -> bytes:
    """The request of the specification, section 2, as compact JSON without empty filters."""
    filters = {
        name: value for name, value in msgspec.structs.asdict(question).items() if value not in ("", None)
    }
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


@contextmanager
def _logged(site: LinkedSite) -> Iterator[None]:
    """One line for each failure; never a body, a secret or a signature."""
    try:
        yield
    except GatewayError as error:
        _log(site, error)
        raise


def _log(site: LinkedSite, error: GatewayError) -> None:
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
