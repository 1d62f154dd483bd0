"""Requests that send a report: checks token, query parameters, website and body, in this order."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any

from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest, QueryDict, UnreadablePostError
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from dashboard_api import errors, limits
from dashboard_api.api.authorization import check_entitlement, paused_link
from dashboard_api.importing.locations import OutsideWebsite, normalise_location
from dashboard_api.models import ReportToken, Severity, Website
from dashboard_api.models.sites import original_host
from dashboard_api.scanners import READERS, max_sent_bytes
from dashboard_api.scanners.streams import GZIP
from dashboard_api.scanners.times import parse_time
from foundation.addresses.hosts import InvalidHost, normalise_host
from foundation.operations.request_ids import note_account

# [!-~] is printable ASCII without the space.
_BEARER = re.compile(r"bearer +([!-~]+)", re.ASCII | re.IGNORECASE)
_KEY = re.compile(rf"[!-~]{{1,{limits.MAX_IDEMPOTENCY_KEY_LENGTH}}}", re.ASCII)
_LENGTH = re.compile(r"[0-9]{1,1000}", re.ASCII)  # int() rejects more than a few thousand digits
_PART_BYTES = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """The website, the Idempotency-Key, and the options of the import."""

    host: str
    key: str
    options: dict[str, Any]  # for ``ImportOptions``


@sensitive_variables("header", "match")
def authenticate(request: HttpRequest, now: datetime) -> ReportToken:
    """Return the token of the request, without recording its use; raises InvalidToken."""
    header = request.META.get("HTTP_AUTHORIZATION", "")
    if match := _BEARER.fullmatch(header):
        token = ReportToken.objects.with_value(match[1]).select_related("account").first()
        if token is not None and token.is_usable(now):
            note_account(token.account.ref)
            return token
    raise errors.InvalidToken


def read_request(request: HttpRequest) -> ReportRequest:
    """Return the checked parameters; raises InvalidRequest, which lists every wrong one."""
    try:
        query = request.GET
    except TooManyFieldsSent as error:
        raise errors.InvalidRequest([{"field": "query", "message": "has too many parameters"}]) from error
    wrong = list(_errors_of_unknown_parameters(query))
    values: dict[str, Any] = {}
    for name, check in _PARAMETERS.items():
        try:
            values[name] = check(query.getlist(name))
        except ValueError as error:
            wrong.append({"field": name, "message": str(error)})
    key = request.META.get("HTTP_IDEMPOTENCY_KEY", "")
    if key and not _KEY.fullmatch(key):
        message = f"must be 1 to {limits.MAX_IDEMPOTENCY_KEY_LENGTH} printable characters without spaces"
        wrong.append({"field": "Idempotency-Key", "message": message})
    if not wrong:
        wrong = list(_errors_of_locations(values))
    if wrong:
        raise errors.InvalidRequest(wrong)
    host = values.pop("host")
    values["format_name"] = values.pop("format")
    values["targets"] = values.pop("target")
    return ReportRequest(host=host, key=key, options=values)


def authorize(token: ReportToken, host: str, now: datetime) -> Website:
    """Return the website that ``token`` may send reports about.

    Raises OtherWebsite, InactiveEntitlement or RevokedLink.
    """
    # Retired websites count: a former owner must not learn that another account has proven the website.
    with_host = [each for each in token.websites.all() if original_host(each.host) == host]
    # The current website, if there is one, comes before retired ones.
    website = min(with_host, key=lambda each: each.retired_at is not None, default=None)
    link = token.account.links.filter(website=website).first() if website else None
    if website is None or link is None:
        raise errors.OtherWebsite(_host_to_send(token, host))
    entitlement = getattr(token.account, "entitlement", None)
    check_entitlement(entitlement, now.date())
    if link.revoked_at is not None:
        raise errors.RevokedLink(revoked_at=f"{link.revoked_at:%Y-%m-%dT%H:%M:%SZ}")
    if link.paused_at is not None:
        raise paused_link(entitlement, now.date())
    return website


def _host_to_send(token: ReportToken, host: str) -> str:
    """Return which host to send if the token has this one with or without "www."; empty otherwise."""
    for each in token.websites.all():
        if host in (f"www.{each.host}", each.host.removeprefix("www.")):
            return f"This token may send reports about {each.host}: send that host."
    return ""


def body_of(request: HttpRequest, format_name: str) -> Iterator[bytes]:
    """Check the headers and the first part of the body, and return the body in parts.

    Raises UnsupportedMediaType, LengthRequired or ReportTooLarge. The iterator raises IncompleteBody.
    """
    is_packed = _is_packed(request)
    length = _length(request)
    head = _read_exactly(request, min(_PART_BYTES, length))
    if is_packed and not head.startswith(GZIP):
        raise errors.UnsupportedMediaType("Content-Encoding says gzip, but the body is not gzip.")
    if length > (most := max_sent_bytes(head, format_name)):
        raise errors.ReportTooLarge(most)
    return _head_and_rest(request, head, length)


def _is_packed(request: HttpRequest) -> bool:
    if request.META.get("CONTENT_TYPE", "").lower().startswith("multipart/"):
        raise errors.UnsupportedMediaType(
            "Send the report itself as the body (curl --data-binary @FILE), not a form."
        )
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise errors.UnsupportedMediaType("Send the report as it is, or with Content-Encoding: gzip.")
    return bool(encoding == "gzip")


def _length(request: HttpRequest) -> int:
    declared = request.META.get("CONTENT_LENGTH", "")
    if not _LENGTH.fullmatch(declared) or "HTTP_TRANSFER_ENCODING" in request.META:
        raise errors.LengthRequired
    length = int(declared)
    if length > limits.MAX_SENT_REPORT_BYTES:
        raise errors.ReportTooLarge(limits.MAX_SENT_REPORT_BYTES)
    return length


def _head_and_rest(request: HttpRequest, head: bytes, length: int) -> Iterator[bytes]:
    yield head
    rest = length - len(head)
    while rest:
        part = _read_exactly(request, min(_PART_BYTES, rest))
        rest -= len(part)
        yield part


def _read_exactly(request: HttpRequest, size: int) -> bytes:
    """Return exactly ``size`` bytes of the body; raises IncompleteBody."""
    parts = []
    while size:
        try:
            part = request.read(size)
        except UnreadablePostError as error:
            raise errors.IncompleteBody from error
        if not part:
            raise errors.IncompleteBody
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _errors_of_unknown_parameters(query: QueryDict) -> Iterator[dict[str, str]]:
    for name in query.keys() - _PARAMETERS.keys():
        similar = get_close_matches(name, _PARAMETERS, n=1)
        message = f"is unknown: did you mean {similar[0]}?" if similar else "is unknown"
        yield {"field": name[:100], "message": message}


def _errors_of_locations(values: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yield an error for each location that is not on the website."""
    locations = [("base_url", values["base_url"]), *(("target", target) for target in values["target"])]
    for field, location in locations:
        try:
            normalise_location(values["host"], location or values["host"])  # the base_url can be missing
        except OutsideWebsite as error:
            yield {"field": field, "message": str(error)}


def _at_most_once(check: Callable[[str], Any], default: Any = None) -> Callable[[list[str]], Any]:
    """Return a check for a parameter that may be given once; an empty value means the default."""

    def read(values: list[str]) -> Any:
        if len(values) > 1:
            raise ValueError("is given more than once")
        _check_printable(values)
        return check(values[0]) if values and values[0] else default

    return read


def _check_printable(values: list[str]) -> None:
    if not all(value.isprintable() for value in values):
        raise ValueError("has a character that cannot be printed")


def _targets(values: list[str]) -> list[str]:
    _check_printable(values)
    return values


def _host(values: list[str]) -> str:
    if len(values) != 1 or not values[0]:
        raise ValueError("is required, once: the website that was scanned")
    try:
        return normalise_host(values[0])
    except InvalidHost as error:
        raise ValueError(str(error)) from error


def _one_of(*allowed: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return text

    return check


def _true_or_false(text: str) -> bool:
    return _one_of("true", "false")(text) == "true"


def _past_time(text: str) -> str:
    moment = parse_time(text)
    if moment is None:
        raise ValueError("must be a time such as 2026-01-31T14:00:00Z")
    if moment > timezone.now() + timedelta(seconds=limits.TIMESTAMP_WINDOW_SECONDS):
        raise ValueError("is in the future")
    return moment.isoformat()


def _web_address(text: str) -> str:
    if not text.lower().startswith(("http://", "https://")):
        raise ValueError("must start with http:// or https://")
    return text


def _category(text: str) -> str:
    if len(text) > limits.MAX_CATEGORY_LENGTH:
        raise ValueError(f"must have at most {limits.MAX_CATEGORY_LENGTH} characters")
    return text


# Each check returns the value for ``ReportOptions`` or raises ValueError.
_PARAMETERS: dict[str, Callable[[list[str]], Any]] = {
    "host": _host,
    "format": _at_most_once(_one_of("auto", *READERS), "auto"),
    "complete": _at_most_once(_true_or_false, False),
    "scanned_at": _at_most_once(_past_time),
    "base_url": _at_most_once(_web_address),
    "target": _targets,
    "category": _at_most_once(_category, ""),
    "dry_run": _at_most_once(_true_or_false, False),
    "fail_on": _at_most_once(_one_of(*Severity.labels), ""),
}
