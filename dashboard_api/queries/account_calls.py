"""Reads the calls of an account, newest first, from the nonces and from the calls on record.

Both tables are in one database, so one statement sees a call exactly once even while ``prune`` moves it.
"""

from datetime import datetime, time
from typing import Any, NamedTuple

from dashboard_api.backends.calls import FACTS
from dashboard_api.backends.statements import select, to_column, to_datetime
from dashboard_api.contract.cursor import read_call_position
from dashboard_api.models import CallRecord
from signed_api.account import REFUSED, CallsRequest


class CallRow(NamedTuple):
    """A call on record."""

    at: datetime
    account_id: int
    secret_id: int
    link_id: int | None
    route: str
    request_id: str
    address: str
    status: int
    code: str


class Reader(NamedTuple):
    """The caller that reads the list: its own calls of ``route`` are left out, so they do not fill it."""

    secret_id: int
    address: str
    route: str


# Each table gives its own newest calls first, so that neither is read as a whole; facts of nonces without a
# time are not on record. ``wanted`` is the condition of the request.
_NEWEST_FIRST = "ORDER BY at DESC, request_id DESC LIMIT %(count)s"
_CALLS = f"""
SELECT * FROM (
    SELECT * FROM (
        SELECT * FROM (
            SELECT {FACTS}, COALESCE(status, 200) AS status, COALESCE(code, '') AS code
            FROM dashboard_api_nonce LEFT JOIN dashboard_api_calloutcome USING (account_id, nonce)
            WHERE at IS NOT NULL
        ) AS spent WHERE {{wanted}} {_NEWEST_FIRST}
    ) AS recent
    UNION ALL
    SELECT * FROM (
        SELECT {FACTS}, status, code FROM dashboard_api_callrecord WHERE {{wanted}} {_NEWEST_FIRST}
    ) AS older
) AS calls {_NEWEST_FIRST}
"""  # noqa: S608  # constant text
# The condition of the partial index on refused calls, word for word: otherwise the index is not used.
_OUTCOMES = {True: "NOT (status = 200)", False: "status = 200"}


def latest_calls(account_id: int, *, count: int) -> list[CallRow]:
    """Return the last calls of an account."""
    return _select_calls("account_id = %(account)s", {"account": account_id, "count": count})


def calls_of(account_id: int, request: CallsRequest, *, reader: Reader, count: int) -> list[CallRow]:
    """Return at most ``count`` calls of an account that match ``request``."""
    wanted = [
        "account_id = %(account)s",
        "NOT (route = %(route)s AND secret_id = %(secret_id)s AND address = %(address)s)",
    ]
    parameters: dict[str, Any] = {"account": account_id, "count": count, **reader._asdict()}
    if request.day:
        wanted.append("at >= %(begin)s AND at <= %(end)s")
        parameters["begin"] = str(datetime.combine(request.day, time.min))
        parameters["end"] = str(datetime.combine(request.day, time.max))
    if request.outcome:
        wanted.append(_OUTCOMES[request.outcome == REFUSED])
    if request.before:
        wanted.append("at <= %(at)s AND (at, request_id) < (%(at)s, %(request_id)s)")
        before = read_call_position(request.before)
        parameters |= {"at": to_column(before.at), "request_id": before.request_id}
    return _select_calls(" AND ".join(wanted), parameters)


def _select_calls(wanted: str, parameters: dict[str, Any]) -> list[CallRow]:
    found = select(CallRecord, _CALLS.format(wanted=wanted), parameters)
    return [CallRow(to_datetime(at), *facts) for at, *facts in found]
