"""Mixed calls while processes of the server or of PostgreSQL are killed, compared with their records."""

import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db import connections

from benchmarks import databases
from benchmarks.cluster import killing_backends
from benchmarks.servers import Server, killing, run_server
from benchmarks.signed_calls import NO_RESPONSE, Call, Response, exchange, signed_call

CLIENTS = 8
BATCH = 500
BETWEEN_TRIES = 0.3  # seconds
_UNKNOWN_LINK = {"link_id": "00000000-0000-4000-8000-000000000000"}
_SITE, _ACCOUNT = "/v1/site/", "/v1/account/entitlement"
# Of ten calls: the route, the fields next to those of the website, and whether the signature is right.
MIXED: tuple[tuple[str, dict[str, Any], bool], ...] = (
    (f"{_SITE}dashboard", {}, True),
    (f"{_SITE}dashboard", {"severity": "High", "page": 2}, True),
    (f"{_SITE}dashboard", {"page": 0}, True),
    (f"{_SITE}dashboard", _UNKNOWN_LINK, True),
    (f"{_SITE}dashboard", {}, False),
    (f"{_SITE}finding", {"finding_id": "999999999"}, True),
    (f"{_SITE}changes", {"days": 7}, True),
    (f"{_SITE}changes", {"days": 7, "until": "next_import"}, True),
    (_ACCOUNT, {}, True),
    (_ACCOUNT, {"page_size": "ten"}, True),
)
EXPECTED = {"200", "400 invalid_request", "404 unknown_link", "404 unknown_finding"}
UNAVAILABLE = "503 unavailable"  # where the database is away
UNRECORDED = ("401 invalid_signature", "401 replayed_nonce")


class Sent(NamedTuple):
    """A call that was sent twice, and both responses; only one of the two can be answered."""

    is_signed: bool
    responses: tuple[Response, Response]


def records(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong with the record of ``rounds`` mixed calls during which processes were killed.

    Every call is sent twice: one copy is answered, and has exactly one record, with the id and the outcome
    of its response; a refusal has a line in the log with this id. The other copy and a wrong signature have
    no record. Of the calls on record, those that cost something are the account's use, exactly. Controls: a
    response with another status must differ from its record, and a use of one call more from the records.
    """
    yield from _compared(environment, body, rounds, killing, without={NO_RESPONSE})


def backends(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong with the same calls while processes of PostgreSQL itself are killed.

    A call may also be refused as unavailable; if its nonce was stored before, its record says 200. So does
    that of a refusal whose outcome could not be stored.
    """
    connections.close_all()
    url, without = environment["DATABASE_URL"], {NO_RESPONSE, UNAVAILABLE}
    yield from _compared(environment, body, rounds, lambda _server: killing_backends(url), without=without)
    connections.close_all()


def _compared(
    environment: dict[str, str],
    body: dict[str, Any],
    rounds: int,
    killing: Callable[[Server], AbstractContextManager[list[int]]],
    *,
    without: set[str],
) -> Iterator[str]:
    began, before = datetime.now(UTC), _used(body)
    with run_server(environment) as server:
        with killing(server) as killed, ThreadPoolExecutor(CLIENTS) as clients:
            sent = list(clients.map(lambda number: _send(server.port, body, number), range(rounds)))
        log = (databases.FOLDER / f"server-{server.port}.log").read_text()
    answered = [response for each in sent for response in each.responses if response.status in EXPECTED]
    lost = [each for each in answered if each.status != "200" and each.request_id not in log]
    if lost:
        yield f"{len(lost)} refusals are not in the log, such as {lost[0]}"
    # The database was gone before it confirmed their outcome: they may read as 200 (decision record 0089).
    unsaved = set(re.findall(r"of a call cannot be stored \[(\w+)\]", log))
    connections.close_all()  # it may have been ended
    yield from _wrong_responses(sent, without)
    yield from _wrong_records(sent, answered, began, without, unsaved)
    if answered and not any(
        _wrong_records(sent, [answered[0]._replace(status="418")], began, without, unsaved)
    ):
        yield "the control was not noticed"
    used = _used(body) - before
    yield from _wrong_use(used, began)
    if not any(_wrong_use(used + 1, began)):
        yield "the control, a use of one call more, was not noticed"
    statuses = Counter(response.status for each in sent for response in each.responses)
    print(f"{rounds} calls sent twice, {len(killed)} processes killed: {dict(sorted(statuses.items()))}")
    print(f"{used} calls of the allowance used")
    if unsaved:
        print(f"{len(unsaved)} outcomes were not confirmed, as the log says")


def _send(port: int, body: dict[str, Any], number: int) -> Sent:
    path, fields, is_signed = MIXED[number % len(MIXED)]
    whose = {"portal_account_ref": body["portal_account_ref"]} if path == _ACCOUNT else body
    call = signed_call(whose | fields, path=path)
    if not is_signed:
        call = (call[0] + b" ", call[1])
    together = threading.Barrier(2)

    def copy(call: Call) -> Response:
        together.wait(60)
        return exchange(port, call, path=path)

    with ThreadPoolExecutor(2) as copies:
        first, second = copies.map(copy, [call] * 2)
    if UNAVAILABLE in (first.status, second.status):
        time.sleep(BETWEEN_TRIES)
    return Sent(is_signed, (first, second))


def _wrong_responses(sent: list[Sent], without: set[str]) -> Iterator[str]:
    """Yield unexpected responses; ``without`` are those of calls without an answer."""
    for each in sent:
        statuses = sorted(response.status for response in each.responses)
        allowed = without | (EXPECTED | {UNRECORDED[1]} if each.is_signed else {UNRECORDED[0]})
        if not set(statuses) <= allowed:
            yield f"unexpected responses: {statuses}"
        if len([status for status in statuses if status in EXPECTED]) > 1:
            yield f"both copies were answered: {statuses}"


def _wrong_records(
    sent: list[Sent], answered: list[Response], began: datetime, without: set[str], unsaved: set[str]
) -> Iterator[str]:
    """Yield how the records since ``began`` differ from the responses, after all nonces became records."""
    from dashboard_api.models import CallRecord, Nonce  # only after Django is set up

    later = datetime.now(UTC) + timedelta(hours=1)
    while Nonce.objects.prune(now=later, batch=random.randrange(1, BATCH)):
        pass
    found = CallRecord.objects.filter(at__gte=began).values_list("request_id", "status", "code")
    recorded: dict[str, list[str]] = {}
    for request_id, status, code in found:
        recorded.setdefault(request_id, []).append(f"{status} {code}".strip())
    for response in answered:
        allowed = [[response.status], *([["200"]] if response.request_id in unsaved else [])]
        if recorded.get(response.request_id) not in allowed:
            yield f"{response} has the records {recorded.get(response.request_id)}"
    unanswered = sum(bool(without & {response.status for response in each.responses}) for each in sent)
    others = len(found) - len(answered)
    if others > unanswered:
        yield f"{others} records of calls that were not answered, but only {unanswered} calls were not"
    if not answered:
        yield "no call was answered"


def _used(body: dict[str, Any]) -> int:
    """Return how many calls the account has used of its allowances so far."""
    from dashboard_api.models import Account, Usage  # only after Django is set up

    account = Account.objects.get(ref=body["portal_account_ref"])
    calls = Usage.objects.filter(account_id=account.pk).values_list("calls", flat=True)
    return sum(calls)


def _wrong_use(used: int, began: datetime) -> Iterator[str]:
    """Yield how the use differs from the records since ``began``: some routes cost nothing (record 0120)."""
    from dashboard_api.contract import UNCOUNTED_PATHS
    from dashboard_api.models import CallRecord

    free = [path.removeprefix("/v1/") for path in UNCOUNTED_PATHS]
    recorded = CallRecord.objects.filter(at__gte=began).exclude(route__in=free).count()
    if used != recorded:
        yield f"{used} calls used, but {recorded} calls that cost something are on record"
