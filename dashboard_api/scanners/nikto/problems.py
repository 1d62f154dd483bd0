"""The problems that Nikto reports most often, with the texts and ratings of ``problems.toml``.

They are recognised by the message, not by the id: versions 2.1, 2.5 and 2.6 report one problem under
several ids, and use some ids for other problems than before.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from dashboard_api.scanners.problem_texts import ProblemText, load_texts
from dashboard_api.scanners.report import Kind, Severity
from dashboard_api.scanners.text import without_numbers
from dashboard_api.scanners.topics import TOPICS

_MAX_CHARACTERS = 1000  # of a message: it names its problem at the beginning
# Versions 2.1 and 2.5 have a sentence for each header, 2.6 has one for all.
_MISSING_HEADER = (
    r"(?:header missing: |the (?:anti-clickjacking )?|TLS and the |SSL and the )({})"
    r"(?: (?:HTTP )?header is not (?:present|set|defined)|\W*$|\. See)"
)


_OF_TOPICS = {rule for topic in TOPICS.values() for rule in topic.rules.get("nikto", ())}


class NiktoText(ProblemText, frozen=True, kw_only=True):
    """A problem in ``problems.toml``."""

    pattern: str = ""
    header: str = ""  # the problem is that this header is missing
    kind: Kind = "confirmed"


TEXTS = load_texts(Path(__file__).with_name("problems.toml"), NiktoText)
_PATTERNS = [
    (
        "missing-header" if text.header else key,
        text,
        re.compile(text.pattern or _MISSING_HEADER.format(text.header), re.IGNORECASE),
    )
    for key, text in TEXTS.items()
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem in a message, and its subject: a header, a cookie, a method."""

    key: str
    text: NiktoText
    subject: str

    @property
    def identity(self) -> tuple[str, str]:
        """The identity of the finding, which is the same in every version of Nikto."""
        return self.key, without_numbers(self.subject.lower())

    @property
    def rule(self) -> str:
        """The identity as one name; Nikto's ids may cover several problems (013587: any missing header).

        Without the subject where a topic has the name: each cookie without Secure is the same problem.
        """
        return self.key if self.key in _OF_TOPICS else "/".join(filter(None, self.identity))

    @property
    def title(self) -> str:
        """The title with the subject."""
        return self.text.title.format(self.subject)

    @property
    def kind(self) -> Kind:
        """The kind of the finding, which is never confirmed without a severity."""
        return self.text.kind if self.text.severity > Severity.INFO else "informational"


def recognise(message: str) -> Problem | None:
    """Return the problem that ``message`` reports; None for an unknown one."""
    for key, text, pattern in _PATTERNS:
        if match := pattern.search(message[:_MAX_CHARACTERS]):
            return Problem(key=key, text=text, subject=" ".join(filter(None, match.groups())))
    return None
