"""The problems that Nikto reports most often: it writes only a message; severity, CWE and remedy are ours.

They are recognised by the message, not by the id: versions 2.1, 2.5 and 2.6 report one problem under
several ids, and use some ids for other problems than before.
"""

import re
from dataclasses import dataclass

from dashboard_api.scanners.nikto.headers import HEADERS
from dashboard_api.scanners.nikto.known import Known
from dashboard_api.scanners.nikto.servers import SERVERS
from dashboard_api.scanners.report import Kind, Severity
from dashboard_api.scanners.text import without_numbers

KNOWN = [*HEADERS, *SERVERS]
_PATTERNS = [(known, re.compile(known.pattern, re.IGNORECASE)) for known in KNOWN]
_LOOKED_AT = 1000  # characters of a message: a problem is named at its beginning


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """A known problem in a message; ``what`` is its subject: a header, a cookie, a method."""

    known: Known
    what: str

    @property
    def identity(self) -> tuple[str, str]:
        """The identity of the finding: the same in every version of Nikto, without numbers."""
        return self.known.key, without_numbers(self.what.lower())

    @property
    def rule(self) -> str:
        """The identity as one name; Nikto's ids may cover several problems (013587: any missing header)."""
        return "/".join(filter(None, self.identity))

    @property
    def title(self) -> str:
        """The problem's title, with its subject."""
        return self.known.title.format(self.what)

    @property
    def kind(self) -> Kind:
        """The kind of finding: informational where nothing is wrong."""
        return self.known.kind if self.known.severity > Severity.INFO else "informational"


def recognised(message: str) -> Recognised | None:
    """Return the known problem that ``message`` reports; None for an unknown one."""
    for known, pattern in _PATTERNS:
        if match := pattern.search(message[:_LOOKED_AT]):
            return Recognised(known=known, what=" ".join(filter(None, match.groups())))
    return None
