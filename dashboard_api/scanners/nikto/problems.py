"""Nikto's most frequent problems, with texts and ratings from ``problems.toml``.

The message identifies the problem. Ids do not: versions 2.1, 2.5 and 2.6 use several ids for one problem,
and reuse ids for other problems.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from dashboard_api.scanners.problem_texts import ProblemText, load_texts
from dashboard_api.scanners.report import Kind, Severity
from dashboard_api.scanners.text import without_numbers
from dashboard_api.scanners.topics import TOPICS

_MAX_CHARACTERS = 1000  # of a message, which names its problem at the beginning
# Versions 2.1 and 2.5 have a sentence for each header, 2.6 has one sentence for all headers.
_MISSING_HEADER = (
    r"(?:header missing: |the (?:anti-clickjacking )?|TLS and the |SSL and the )({})"  # the header
    r"(?: (?:HTTP )?header is not (?:present|set|defined)|\W*$|\. See)"
)

_RULES_OF_TOPICS = {rule for topic in TOPICS.values() for rule in topic.rules.get("nikto", ())}


class NiktoText(ProblemText, frozen=True, kw_only=True):
    """Problem in ``problems.toml``."""

    pattern: str = ""  # its groups are the subject of the problem
    header: str = ""  # the header that is missing
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
    """Problem in a message with its subject, such as a header, a cookie or a method."""

    key: str
    text: NiktoText
    subject: str

    @property
    def identity(self) -> tuple[str, str]:
        """The identity of the finding, the same in every version of Nikto."""
        return self.key, without_numbers(self.subject.lower())

    @property
    def rule(self) -> str:
        """The identity as one name. Nikto's id is not enough: 013587 is any missing header.

        If a topic lists the key, the rule omits the subject: cookies without Secure are one problem.
        """
        return self.key if self.key in _RULES_OF_TOPICS else "/".join(filter(None, self.identity))

    @property
    def title(self) -> str:
        """The title with the subject."""
        return self.text.title.format(self.subject)

    @property
    def kind(self) -> Kind:
        """The kind of the finding; informational if its severity is Info."""
        return self.text.kind if self.text.severity > Severity.INFO else "informational"


def recognise(message: str) -> Problem | None:
    """Return the problem that ``message`` reports, if it is known."""
    for key, text, pattern in _PATTERNS:
        if match := pattern.search(message[:_MAX_CHARACTERS]):
            return Problem(key=key, text=text, subject=" ".join(filter(None, match.groups())))
    return None
