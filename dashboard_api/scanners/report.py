"""What every reader makes of its report: plain data that knows no format and no database."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Literal, Self, TypeVar

from dashboard_api import limits
from dashboard_api.scanners.redaction import redact_headers
from dashboard_api.scanners.text import clean, one_line, within_bytes

# What the models' columns hold.
TITLE_LENGTH = 500
SEVERITY_RAW_LENGTH = 50
RULE_LENGTH = 300
REFERENCE_LENGTH = 2000
MAX_REFERENCES = 50
SOURCE_NAME_LENGTH = 100
VERSION_LENGTH = 50

Kind = Literal["confirmed", "suspected", "informational"]
Item = TypeVar("Item")


class Severity(IntEnum):
    """The models' severities, for readers, which know no model."""

    CRITICAL = 4
    HIGH = 3
    MEDIUM = 2
    LOW = 1
    INFO = 0


class UnreadableReport(ValueError):
    """The file as a whole is no report of the format; the message says why."""


class BadRow(ValueError):
    """One row cannot be used; the message says why and completes "row 7 ..."."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """A row that was left out; rows are numbered from 1, those of JSON lines by their line."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A row about a check that found nothing; with ``error``, a check that failed.

    A result that the report itself suppresses is one, too: ``suppressed`` names it, and ``identities`` are
    its problem's, which is still there.
    ``rules`` are the rules of the check; none where the format does not name them.
    """

    row: int
    location: str
    seen_at: datetime | None
    error: str = ""
    suppressed: str = ""
    identities: tuple[tuple[str, ...], ...] = ()
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFinding:
    """A row that tells of a problem at one place."""

    row: int
    identity: tuple[str, ...]  # what tells this problem from the source's others
    rule: str
    severity: Severity
    severity_raw: str
    kind: Kind
    title: str
    description: str
    remediation: str
    references: tuple[str, ...]
    cwe: tuple[int, ...]
    cve: tuple[str, ...]
    location: str
    evidence: str
    seen_at: datetime | None  # by this scan, or the last one that the report knows of
    first_seen_at: datetime | None  # by an earlier scan, as far as the report knows
    aliases: tuple[tuple[str, ...], ...] = ()  # older forms of the identity, the likeliest first
    is_sampled: bool = False  # the report lists only some of the places of this problem

    @classmethod
    def cleaned(
        cls,
        *,
        row: int,
        identity: Iterable[str],
        aliases: Iterable[Iterable[str]] = (),
        rule: str,
        severity: Severity,
        severity_raw: str,
        kind: Kind,
        title: str,
        location: str,
        description: str = "",
        remediation: str = "",
        references: Iterable[str] = (),
        cwe: Iterable[int] = (),
        cve: Iterable[str] = (),
        evidence: str = "",
        seen_at: datetime | None = None,
        first_seen_at: datetime | None = None,
        is_sampled: bool = False,
    ) -> Self:
        """The one door for a report's texts: cleaned, redacted, and cut to what the columns hold."""
        return cls(
            row=row,
            identity=_identity(identity),
            aliases=tuple(_identity(alias) for alias in aliases),
            rule=one_line(rule)[:RULE_LENGTH],
            severity=severity,
            severity_raw=one_line(severity_raw)[:SEVERITY_RAW_LENGTH],
            kind=kind,
            title=one_line(title)[:TITLE_LENGTH],
            description=_stored_text(description),
            remediation=_stored_text(remediation),
            references=_web_references(references),
            cwe=tuple(dict.fromkeys(cwe)),
            cve=tuple(dict.fromkeys(cve)),
            location=one_line(location),
            evidence=_stored_text(redact_headers(clean(evidence))),
            seen_at=seen_at,
            first_seen_at=first_seen_at,
            is_sampled=is_sampled,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What only the end of a report tells; no row of it."""

    complete: bool | None = None
    scanned_at: datetime | None = None


Told = ReportedFinding | Check | Reject


@dataclass(slots=True, kw_only=True)
class ScanReport:
    """A report while it is read: its rows come one by one, once, by iterating over it.

    ``rows``, ``complete`` and ``scanned_at`` may become known, or grow, up to the last row. Iterating
    raises UnreadableReport where the file turns out to be none.

    The last five fields are the scope: absence from the report counts only inside it.
    ``checks`` are the rules that ran, and grow with the rules that rows name; None: every rule ran.
    """

    source: str
    source_name: str
    version: str = ""
    told: Iterator[Told | Ending]
    rows: int = 0  # how many were told so far
    complete: bool | None = None  # None: the format cannot tell
    scanned_at: datetime | None = None  # when the scan ended; else the newest time of a row, if any has one
    judged_at: datetime | None = None  # set by the importer before the rows are read: the time of the scan
    others: tuple["ScanReport", ...] = ()  # of further tools or categories in the same file
    names_targets: bool = False  # rows name every target that was scanned, with or without problems
    checks: set[str] | None = None
    rule_separators: str = "/"  # a check includes the rules that continue its name after one of these
    category: str = ""  # the part of the source's work that the report covers, if it has a name
    is_unnamed_part: bool = False  # it may be one of several parts without saying which

    def __post_init__(self) -> None:
        self.source_name = one_line(self.source_name)[:SOURCE_NAME_LENGTH]
        self.version = one_line(self.version)[:VERSION_LENGTH]

    def __iter__(self) -> Iterator[Told]:
        newest = None
        has_good_row = False
        for row in self.told:
            if isinstance(row, Ending):
                self.complete = self.complete if row.complete is None else row.complete
                self.scanned_at = row.scanned_at or self.scanned_at
                continue
            self.rows += 1
            has_good_row = has_good_row or not isinstance(row, Reject)
            if not has_good_row and self.rows == limits.MAX_BAD_ROWS and isinstance(row, Reject):
                raise UnreadableReport(
                    f"None of the first {self.rows:,} rows can be read: the last of them {row.reason}."
                )
            if not isinstance(row, Reject) and row.seen_at is not None:
                newest = max(newest or row.seen_at, row.seen_at)
            yield row
        self.scanned_at = self.scanned_at or newest


def tell_each(
    rows: Iterable[tuple[int, Item | BadRow]], tell: Callable[[int, Item], ReportedFinding | Check]
) -> Iterator[Told]:
    """What ``tell`` makes of each numbered row; of one that is bad, or raises BadRow, a Reject."""
    for number, row in rows:
        told: Told
        try:
            told = Reject(row=number, reason=str(row)) if isinstance(row, BadRow) else tell(number, row)
        except BadRow as error:
            told = Reject(row=number, reason=str(error))
        except RecursionError:
            told = Reject(row=number, reason="is nested too deeply")
        yield told


def _identity(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(one_line(part) for part in parts)


def _stored_text(text: str) -> str:
    return within_bytes(clean(text), limits.MAX_STORED_EVIDENCE_BYTES)


def _web_references(texts: Iterable[str]) -> tuple[str, ...]:
    """The web addresses among ``texts``, each of which may also be a list such as "- http://a"."""
    words = (word.strip("<>,;\"'`") for text in texts for word in clean(text).split())
    addresses = (word for word in words if word.lower().startswith(("http://", "https://")))
    unique = dict.fromkeys(address for address in addresses if len(address) <= REFERENCE_LENGTH)
    return tuple(unique)[:MAX_REFERENCES]
