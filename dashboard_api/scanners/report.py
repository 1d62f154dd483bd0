"""Reports as plain data, independent of format and database."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Literal, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from dashboard_api import limits
from dashboard_api.scanners.redaction import redact_addresses, redact_headers
from dashboard_api.scanners.text import clean, one_line, within_bytes
from dashboard_api.scanners.times import Time, UnreadTime

# The lengths of the models' columns.
TITLE_LENGTH = 500
SEVERITY_RAW_LENGTH = 50
RULE_LENGTH = 300
REFERENCE_LENGTH = 2000
MAX_REFERENCES = 50
SOURCE_NAME_LENGTH = 100
VERSION_LENGTH = 50
_FAILURE_LENGTH = 200

Kind = Literal["confirmed", "suspected", "informational"]
Item = TypeVar("Item")


class Severity(IntEnum):
    """Severity, with the same values as in the models: readers must not import Django."""

    CRITICAL = 4
    HIGH = 3
    MEDIUM = 2
    LOW = 1
    INFO = 0


SEVERITIES: Mapping[str, Severity] = {severity.name.lower(): severity for severity in Severity}


class UnreadableReport(ValueError):
    """Refusal of a whole file; the message says why."""


class EmptyReport(UnreadableReport):
    """Refusal of an empty file, which does not name its scanner."""


class BadRow(ValueError):
    """Refusal of one row; the message says why and completes a sentence, "Row 7 ..." or "The file ...".

    Functions that read many rows return or yield it in place of the bad row, so that the others can be read.
    """


@dataclass(slots=True, kw_only=True)
class Budget:
    """Processor time and staged bytes of one file. The limits grow with its length.

    ``length`` counts the unpacked bytes read so far, and ``staged`` the bytes of the rows in the temporary
    database. Rows may share a text, so a small file can expand to very many bytes.
    """

    length: int = 0
    seconds: float = 0.0
    staged: int = 0

    def spend(self, *, seconds: float = 0.0, staged: int = 0) -> None:
        """Add processor seconds and staged bytes; raises UnreadableReport above the limit."""
        self.seconds += seconds
        self.staged += staged
        megabytes = self.length / 1024**2
        if self.seconds > limits.READ_SECONDS + limits.READ_SECONDS_A_MB * megabytes:
            raise UnreadableReport(
                "The report takes too long to read for its length. Scan in parts, and import one report for "
                "each."
            )
        if self.staged > limits.STAGED_MB * 1024**2 + limits.STAGED_FOR_EACH_BYTE * self.length:
            raise UnreadableReport(
                "The rows of the report share long texts, and say too much together. Scan in parts, and "
                "import one report for each."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """Row that cannot be used. Rows count from 1; a row of JSON lines has the number of its line."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Row about a check that found no problem or, with ``error``, failed.

    ``suppressed`` names a result that the report suppresses. Its problem still exists, under one of the
    ``identities``. ``rules`` are the rules of the check; empty if the format does not name them. ``skipped``
    rules did not run here, which is not a failure. A failure concerns the whole target (host and port)
    unless it is marked ``fails_only_here``.
    """

    row: int
    location: str
    seen_at: datetime | None
    error: str = ""
    fails_only_here: bool = False
    suppressed: str = ""
    identities: tuple[tuple[str, ...], ...] = ()
    rules: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


class ReportedFinding(Struct, frozen=True, kw_only=True):
    """Row about a problem at one location. Readers pass raw texts; ``convert_rows`` cleans them."""

    row: int
    identity: Sequence[str]  # tells the problem apart from others of the source, wherever it is found
    rule: str
    severity: Severity
    severity_raw: str
    kind: Kind
    title: str
    description: str = ""
    remediation: str = ""
    references: Sequence[str] = ()
    cwe: Sequence[int] = ()
    cve: Sequence[str] = ()
    location: str
    evidence: str = ""
    seen_at: datetime | None = None  # by this scan, or by the last scan that the report names
    first_seen_at: datetime | None = None  # by an earlier scan, if the report names one
    aliases: Sequence[Sequence[str]] = ()  # older forms of the identity, the most likely first
    is_sampled: bool = False  # the report lists only some of the problem's locations

    def cleaned(self) -> Self:
        """Return the finding with its texts cleaned, redacted and cut to the lengths of the columns.

        The rule replaces an empty title, because links show the title.
        """
        rule = one_line(self.rule)[:RULE_LENGTH]
        return replace(
            self,
            identity=_identity(self.identity),
            aliases=tuple(map(_identity, self.aliases)),
            rule=rule,
            severity_raw=one_line(self.severity_raw)[:SEVERITY_RAW_LENGTH],
            title=redact_addresses(one_line(self.title))[:TITLE_LENGTH] or rule[:TITLE_LENGTH],
            description=_stored_text(redact_addresses(clean(self.description))),
            remediation=_stored_text(redact_addresses(clean(self.remediation))),
            references=_web_references(self.references),
            cwe=tuple(dict.fromkeys(self.cwe)),
            cve=tuple(dict.fromkeys(self.cve)),
            location=one_line(self.location),
            evidence=_stored_text(redact_headers(clean(self.evidence))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Facts from the end of a report; without any, an item that is no row. It does not count as a row."""

    complete: bool | None = None
    failure: str = ""
    scanned_at: Time = None


ReportRow = ReportedFinding | Check | Reject


@dataclass(slots=True, kw_only=True)
class ScanReport:
    """Report that reads its rows while the caller iterates over it, once.

    ``rows``, ``complete``, ``failure`` and ``scanned_at`` are final after the last row. Iterating raises
    UnreadableReport if the file turns out not to be a report.

    The fields from ``names_every_target`` on are the scope: a problem that the report omits is gone only
    inside it. ``checks`` are the rules that ran and ``ports`` the scanned ports; ``None`` means all. The
    importer adds the rules and ports that rows name.
    """

    source: str
    source_name: str
    version: str = ""
    entries: Iterator[ReportRow | Ending]
    rows: int = 0  # the number of rows read so far
    complete: bool | None = None  # None: the format does not say
    failure: str = ""  # why the scan did not run to its end, often in the scanner's words
    scanned_at: Time = None  # the end of the scan, else the newest time of a row
    # The importer sets these two before it reads rows.
    judged_at: datetime | None = None  # the time of the scan, such as for expired certificates
    is_on_website: Callable[[str], bool] = lambda _: False  # takes a host
    others: tuple["ScanReport", ...] = ()  # reports of further tools or categories in the same file
    names_every_target: bool = False  # a scanned target has a row even without problems
    hosts_are_names: bool = False  # a host without a port is a DNS name if other rows name its ports
    checks: set[str] | None = None
    ports: set[str] | None = None
    rule_separators: str = "/"  # the check "a" covers the rule "a/b" as well
    category: str = ""  # the part of the source's scans that the report covers
    is_unnamed_part: bool = False  # the report may cover only a part, without saying which
    budget: Budget = field(default_factory=Budget)  # of the file

    def __post_init__(self) -> None:
        self.source_name = one_line(self.source_name)[:SOURCE_NAME_LENGTH]
        self.version = one_line(self.version)[:VERSION_LENGTH]
        self._note_failure(self.failure)

    def _note_failure(self, text: str) -> None:
        """Store why the scan is incomplete, unless ``text`` is empty."""
        if failure := redact_addresses(one_line(text))[:_FAILURE_LENGTH].rstrip(". "):
            self.failure, self.complete = failure, False

    def choose_host(self, names: Iterable[str]) -> str:
        """Return the first of a host's ``names`` that is on the website, else the first; empty if all are."""
        known = [name for name in names if name]
        return next(filter(self.is_on_website, known), known[0] if known else "")

    def __iter__(self) -> Iterator[ReportRow]:
        newest_time = None
        has_good_row = False
        for row in self._within_budget():
            if isinstance(row, Ending):
                self.complete = self.complete if row.complete is None else row.complete
                self._note_failure(row.failure)
                if isinstance(row.scanned_at, datetime) or self.scanned_at is None:
                    self.scanned_at = row.scanned_at
                continue
            self.rows += 1
            has_good_row = has_good_row or not isinstance(row, Reject)
            if not has_good_row and self.rows == limits.MAX_BAD_ROWS and isinstance(row, Reject):
                raise UnreadableReport(
                    f"None of the first {self.rows:,} rows can be read: the last of them {row.reason}."
                )
            if not isinstance(row, Reject) and row.seen_at is not None:
                newest_time = max(newest_time or row.seen_at, row.seen_at)
            yield row
        if not isinstance(self.scanned_at, datetime):
            self.scanned_at = newest_time or self.scanned_at

    def _within_budget(self) -> Iterator["ReportRow | Ending"]:
        """Yield the entries; spend the time of this thread to read and to import each."""
        began = time.thread_time()
        for row in self.entries:
            yield row
            now = time.thread_time()
            self.budget.spend(seconds=now - began)
            began = now


def convert_rows(
    rows: Iterable[tuple[int, Item | BadRow]],
    convert: Callable[[int, Item], ReportedFinding | Check | Ending],
    *,
    time_of: Callable[[Item], Time] = lambda _: None,
) -> Iterator[ReportRow | Ending]:
    """Convert the numbered rows: yield cleaned findings, checks, and a Reject for each bad row.

    If ``time_of`` a row is an UnreadTime, an Ending with the first of them comes last: the importer then
    asks for the time of the scan.
    """
    unread: Time = None
    for number, row in rows:
        try:
            if isinstance(row, BadRow):
                raise row  # it becomes a Reject below
            entry = convert(number, row)
            if unread is None and isinstance(time_of_row := time_of(row), UnreadTime):
                unread = time_of_row
        except BadRow as error:
            yield Reject(row=number, reason=str(error))
        except RecursionError:
            yield Reject(row=number, reason="is nested too deeply")
        else:
            yield entry.cleaned() if isinstance(entry, ReportedFinding) else entry
    if unread:
        yield Ending(scanned_at=unread)


def _identity(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(one_line(part) for part in parts)


def _stored_text(text: str) -> str:
    return within_bytes(text, limits.MAX_STORED_EVIDENCE_BYTES)


def _web_references(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the web addresses anywhere in ``texts``, such as "- http://a"."""
    words = (word.strip("<>,;\"'`") for text in texts for word in redact_addresses(clean(text)).split())
    addresses = (word for word in words if word.lower().startswith(("http://", "https://")))
    unique = dict.fromkeys(address for address in addresses if len(address) <= REFERENCE_LENGTH)
    return tuple(unique)[:MAX_REFERENCES]
