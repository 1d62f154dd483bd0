"""Facts that built-in engines write next to their reports: certificates, the domain, and scripts.

A hostile website decides what an engine sees, so each fact is checked before it is stored.
"""

import logging
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from django.db import DataError, transaction
from django.db.models import Q
from msgspec import Meta

from dashboard_api.models import RegisteredDomain, ScriptInventory, SeenCertificate, SeenScript
from signed_api import limits

logger = logging.getLogger(__name__)

FILE_NAME = "facts.json"
MAX_BYTES = 1024**2
_UNSEEN = timedelta(days=30)  # after which a host that scans no longer reach has no current certificate
_WRITABLE = r"\A[^\x00-\x1f\x7f-\x9f]*\Z"  # without control characters
_Text = Annotated[str, Meta(pattern=_WRITABLE, max_length=200)]
_Short = Annotated[str, Meta(pattern=_WRITABLE, max_length=100)]
_Host = Annotated[str, Meta(pattern=r"\A[a-z0-9._:-]{1,253}\Z")]
_Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_Url = Annotated[str, Meta(pattern=r"\Ahttps?://[^\x00-\x1f\x7f-\x9f]+\Z", max_length=limits.MAX_SCRIPT_URL)]
_Moment = Annotated[datetime, Meta(tz=True)]
_Name = Annotated[str, Meta(pattern=_WRITABLE, max_length=253)]
_Certificates = Annotated[list[msgspec.Raw], Meta(max_length=limits.MAX_CERTIFICATES)]
_T = TypeVar("_T")


class _Fact(msgspec.Struct, frozen=True):
    def __post_init__(self) -> None:
        """Raise ValueError for a time that another time zone could move out of the calendar."""
        for value in msgspec.structs.astuple(self):
            if isinstance(value, datetime) and not 1 < value.year < 9999:
                raise ValueError("a year beyond the calendar")


class _Authority(_Fact, frozen=True):
    subject: _Short
    issuer: _Short
    valid_until: _Moment


class _Certificate(_Fact, frozen=True):
    host: _Host
    port: Annotated[int, Meta(ge=1, le=65_535)]
    sha256: _Sha256
    subject: _Text
    issuer: _Text
    names: Annotated[list[_Name], Meta(max_length=limits.MAX_CERTIFICATE_NAMES)]
    key: _Short
    signature: _Short
    valid_from: _Moment
    valid_until: _Moment
    chain: Annotated[list[_Authority], Meta(max_length=8)]
    problem: _Short


class _Domain(_Fact, frozen=True):
    name: _Host
    valid_until: _Moment | None
    registrar: _Text
    reason: Annotated[str, Meta(pattern=r"\A[a-z_]{0,30}\Z")]


class _Library(_Fact, frozen=True):
    name: _Short
    version: _Short


class _Script(_Fact, frozen=True):
    url: _Url
    host: _Name
    sha256: _Sha256 | None
    bytes: Annotated[int, Meta(ge=0, le=2**53)] | None
    integrity: bool
    libraries: Annotated[list[_Library], Meta(max_length=16)] = []

    def __post_init__(self) -> None:
        """Raise ValueError for an address that is too long for the index, which counts bytes."""
        if len(self.url.encode()) > limits.MAX_SCRIPT_URL:
            raise ValueError("an address with too many bytes")


class _Scripts(_Fact, frozen=True):
    page: _Url
    complete: bool
    found: Annotated[list[msgspec.Raw], Meta(max_length=limits.MAX_SCRIPTS)]


def store(website_id: int, folder: Path, *, seen_at: datetime, may_begin: bool) -> None:
    """Store the facts in ``folder``, if any, in the caller's transaction, which has the website locked.

    Wrong facts are dropped and logged. ``may_begin``: this scan may make the hosts of its scripts the
    expected ones, if there are none yet.
    """
    store_parts: dict[str, Callable[[msgspec.Raw], None]] = {
        "certificates": lambda raw: _store_certificates(
            website_id, msgspec.json.decode(raw, type=_Certificates), seen_at
        ),
        "domain": lambda raw: _store_domain(website_id, msgspec.json.decode(raw, type=_Domain), seen_at),
        "scripts": lambda raw: _store_scripts(
            website_id, msgspec.json.decode(raw, type=_Scripts), seen_at, may_begin=may_begin
        ),
    }
    try:
        parts = msgspec.json.decode(_read(folder / FILE_NAME), type=dict[str, msgspec.Raw])
    except (OSError, ValueError, RecursionError) as error:  # ValueError: also from msgspec
        logger.warning("website %s: the facts of a scan cannot be read: %s", website_id, error)
        return
    for name, store_part in store_parts.items():
        try:
            if name in parts:
                with transaction.atomic():  # the scan is stored even if the database refuses a fact
                    store_part(parts[name])
        except (ValueError, RecursionError, DataError) as error:
            logger.warning("website %s: %s of a scan were dropped: %s", website_id, name, error)


def expected(website_id: int) -> dict[str, Any]:
    """Return the expected hosts, or null before the first inventory, and the pins, for the scripts engine."""
    inventory = ScriptInventory.objects.filter(website=website_id).first()
    pinned = SeenScript.objects.filter(website=website_id).exclude(pinned_sha256="")
    return {
        "hosts": inventory.expected_hosts if inventory else None,
        "pins": dict(pinned.values_list("url", "pinned_sha256")),
    }


def _read(path: Path) -> bytes:
    """Return the content, an empty object without a file; raise OSError or ValueError."""
    try:
        # O_NONBLOCK: opening a named pipe must not wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return b"{}"
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a file")
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES} bytes")
    return content


def _items(website_id: int, found: Iterable[msgspec.Raw], kind: type[_T]) -> list[_T]:
    """Return the items that are well-formed; log how many are not."""
    items, dropped = [], 0
    for raw in found:
        try:
            items.append(msgspec.json.decode(raw, type=kind))
        except (ValueError, RecursionError):
            dropped += 1
    if dropped:
        logger.warning("website %s: %d facts of a scan were dropped", website_id, dropped)
    return items


def _store_certificates(website_id: int, found: Iterable[msgspec.Raw], seen_at: datetime) -> None:
    """Store the certificates; others of the same hosts, and of hosts long unseen, are no longer current."""
    rows = {
        (each.host, each.port, each.sha256): SeenCertificate(
            website_id=website_id,
            host=each.host,
            port=each.port,
            fingerprint=each.sha256,
            issuer=each.issuer,
            valid_until=each.valid_until,
            details=_details(each),
            is_current=True,
            first_seen_at=seen_at,
            seen_at=seen_at,
        )
        for each in _items(website_id, found, _Certificate)
    }
    if not rows:
        return
    known = SeenCertificate.objects.filter(website=website_id)
    replaced = Q(seen_at__lt=seen_at - _UNSEEN)
    for host, port in {key[:2] for key in rows}:
        replaced |= Q(host=host, port=port)
    known.filter(replaced).update(is_current=False)
    SeenCertificate.objects.bulk_create(
        rows.values(),
        update_conflicts=True,
        unique_fields=["website", "host", "port", "fingerprint"],
        update_fields=["issuer", "valid_until", "details", "is_current", "seen_at"],
    )
    kept = known.order_by("-is_current", "-seen_at", "-pk").values("pk")[: limits.MAX_CERTIFICATES]
    known.exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()


def _details(certificate: _Certificate) -> dict[str, Any]:
    columns = {"host", "port", "sha256", "issuer", "valid_until"}
    facts = msgspec.to_builtins(certificate)
    return {name: value for name, value in facts.items() if name not in columns}


def _store_domain(website_id: int, domain: _Domain, seen_at: datetime) -> None:
    """Store the last day of the domain; after a failure, the last day that was read stays."""
    known = RegisteredDomain.objects.filter(website=website_id, name=domain.name)
    if domain.valid_until is None and known.exclude(valid_until=None).update(reason=domain.reason):
        return
    RegisteredDomain.objects.update_or_create(
        website_id=website_id,
        defaults={
            "name": domain.name,
            "valid_until": domain.valid_until,
            "registrar": domain.registrar,
            "reason": domain.reason,
            "read_at": seen_at,
        },
    )


def _store_scripts(website_id: int, scripts: _Scripts, seen_at: datetime, *, may_begin: bool) -> None:
    """Store the scripts; the first complete inventory makes their hosts the expected ones."""
    items = _items(website_id, scripts.found, _Script)
    found = {each.url: each for each in items}
    known = SeenScript.objects.filter(website=website_id)
    known_by_url = {row.url: row for row in known}
    SeenScript.objects.bulk_create(
        [_seen_script(website_id, each, known_by_url, seen_at) for each in found.values()],
        update_conflicts=True,
        unique_fields=["website", "url"],
        update_fields=["host", "sha256", "size", "has_integrity", "libraries", "seen_at", "changed_at"],
    )
    by_pin = known.exclude(pinned_sha256="").values_list("pk", flat=True)
    by_age = known.filter(pinned_sha256="").order_by("-seen_at", "pk").values_list("pk", flat=True)
    pinned = list(by_pin)
    kept = [*pinned, *by_age[: max(limits.MAX_SCRIPTS - len(pinned), 0)]]
    known.exclude(pk__in=kept).delete()
    is_whole = scripts.complete and len(items) == len(scripts.found)
    inventory = ScriptInventory.objects.filter(website=website_id).first()
    if is_whole and (inventory is not None or may_begin):
        hosts = sorted({each.host for each in found.values()})
        expected_hosts = inventory.expected_hosts if inventory else hosts
        ScriptInventory.objects.update_or_create(
            website_id=website_id,
            defaults={"page": scripts.page, "at": seen_at, "expected_hosts": expected_hosts},
        )


def _seen_script(
    website_id: int, script: _Script, known: Mapping[str, SeenScript], seen_at: datetime
) -> SeenScript:
    """Return the row of a script; content that could not be read leaves the known content."""
    before = known.get(script.url)
    sha256 = script.sha256 or (before.sha256 if before else "")
    is_changed = before is not None and before.sha256 not in ("", sha256)
    return SeenScript(
        website_id=website_id,
        url=script.url,
        host=script.host,
        sha256=sha256,
        size=script.bytes if script.sha256 or before is None else before.size,
        has_integrity=script.integrity,
        libraries=msgspec.to_builtins(script.libraries),
        pinned_sha256=before.pinned_sha256 if before else "",
        first_seen_at=before.first_seen_at if before else seen_at,
        seen_at=seen_at,
        changed_at=seen_at if is_changed else (before.changed_at if before else None),
    )
