"""Callbacks by Standard Webhooks, with our own event ``entitlement.set``, for any billing system.

https://www.standardwebhooks.com describes the signature. Its library signs, and the texts of signatures are
compared here: the library's own check decodes base64 leniently, so that changed signatures would pass.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Annotated
from uuid import UUID

import msgspec
from standardwebhooks.webhooks import Webhook

from dashboard_api.billing.snapshots import (
    FIRST_DAY,
    LAST_DAY,
    STATUSES,
    CannotApply,
    Content,
    Ignored,
    Link,
    Refused,
    Snapshot,
    stored_type,
)

TOLERANCE_SECONDS = 300  # both ways
EVENT, LINK = "entitlement.set", "customer.linked"
_ID = re.compile(r"[!-~]{1,255}", re.ASCII)
_TIME = re.compile(r"[0-9]{1,12}", re.ASCII)
_Name = Annotated[str, msgspec.Meta(pattern=r"\A[!-~]{1,255}\Z")]


class _Data(msgspec.Struct, frozen=True, kw_only=True):
    version: Annotated[int, msgspec.Meta(ge=0, le=2**53)]
    status: str
    ends_on: date
    billing_ref: _Name = ""
    customer: _Name = ""
    plan: Annotated[str, msgspec.Meta(pattern=r"\A[-a-zA-Z0-9_]{1,50}\Z")] = ""
    price: _Name = ""
    renews: bool = False
    cancels: bool = False
    past_due_since: date | None = None
    subscription: _Name | None = None


class _LinkData(msgspec.Struct, frozen=True):
    billing_ref: _Name
    customer: _Name


class _Type(msgspec.Struct, frozen=True):
    type: str


class _Head(_Type, frozen=True):
    data: msgspec.Raw = msgspec.Raw()
    timestamp: datetime | None = None
    livemode: bool = True


def verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> str:
    """Return the id of the event; raises Refused. ``headers`` have names in lower case."""
    event_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (_ID.fullmatch(event_id) and _TIME.fullmatch(sent_at)):
        raise Refused("headers")
    if abs(int(sent_at) - int(now.timestamp())) > TOLERANCE_SECONDS:
        raise Refused("time")
    given = headers.get("webhook-signature", "").split(" ")
    for secret in secrets:
        expected = signature(event_id, int(sent_at), body, secret)
        if any(hmac.compare_digest(expected.encode(), each.encode("utf-8", "replace")) for each in given):
            return event_id
    raise Refused("signature")


def signature(event_id: str, sent_at: int, body: bytes, secret: str) -> str:
    """Return the signature of a callback as its header has it; raises Refused."""
    try:
        return Webhook(secret).sign(event_id, datetime.fromtimestamp(sent_at, UTC), body.decode())
    except (ValueError, OverflowError, OSError) as error:  # no UTF-8, or a time beyond the calendar
        raise Refused("form") from error


def read(body: bytes, *, livemode: bool) -> Content:
    """Return what the event says; raises CannotApply for one that should have been readable."""
    try:
        name = msgspec.json.decode(body, type=_Type).type
    except (msgspec.DecodeError, ValueError, RecursionError):
        return Ignored(why="unreadable")
    kind = stored_type(name)
    if name not in (EVENT, LINK):
        return Ignored(type=kind, why="unknown_type")
    try:
        head = msgspec.json.decode(body, type=_Head)
        at = _moment(head.timestamp)
        if head.livemode is not livemode:
            return Ignored(type=kind, occurred_at=at, why="wrong_mode")
        if head.type == LINK:
            link = msgspec.json.decode(head.data, type=_LinkData)
            return Link(type=kind, occurred_at=at, customer=link.customer, billing_ref=link.billing_ref)
        data = msgspec.json.decode(head.data, type=_Data)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise CannotApply("unreadable") from error
    return _snapshot(data, kind, at)


def _one_spelling(billing_ref: str) -> str:
    """Return the reference as we write it; one that is not one of ours stays as it is."""
    try:
        return str(UUID(billing_ref))
    except ValueError:
        return billing_ref


def _moment(at: datetime | None) -> datetime | None:
    """Return the time in UTC; None without a zone, or far from today."""
    if at is None or at.tzinfo is None or not FIRST_DAY <= at.date() <= LAST_DAY:
        return None
    return at.astimezone(UTC)


def _snapshot(data: _Data, kind: str, at: datetime | None) -> Snapshot:
    days = [day for day in (data.ends_on, data.past_due_since) if day is not None]
    if data.status not in STATUSES or not all(FIRST_DAY <= day <= LAST_DAY for day in days):
        raise CannotApply("unreadable")
    if data.status == "past_due" and data.past_due_since is None:
        raise CannotApply("unreadable")
    if bool(data.plan) is bool(data.price) or not (data.billing_ref or data.customer):
        raise CannotApply("unreadable")
    return Snapshot(
        type=kind,
        occurred_at=at,
        object_id=data.subscription or _one_spelling(data.billing_ref) or data.customer,
        order=(data.version, int(at.timestamp()) if at else 0),
        status=data.status,
        ends_on=data.ends_on,
        billing_ref=data.billing_ref,
        customer=data.customer,
        plan=data.plan,
        price=data.price,
        renews=data.renews,
        cancels=data.cancels,
        past_due_since=data.past_due_since,
    )
