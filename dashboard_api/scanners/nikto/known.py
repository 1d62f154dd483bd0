"""A problem that Nikto reports, with our name and rating."""

from dataclasses import dataclass
from typing import Literal

from dashboard_api.scanners.report import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A problem: its stable name, and our texts; "{}" is replaced by what the pattern's group matched."""

    key: str
    pattern: str
    title: str
    severity: Severity
    kind: Literal["confirmed", "suspected"] = "confirmed"
    meaning: str = ""
    remedy: str
    cwe: tuple[int, ...] = ()
    cve: tuple[str, ...] = ()
