"""Our own titles, ratings and advice, for scanners that report only ids, messages or facts."""

from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from dashboard_api.scanners.report import SEVERITIES, Severity


class ProblemText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Texts about one problem, from a table of a TOML file."""

    title: str
    severity_name: Literal["critical", "high", "medium", "low", "info"] = msgspec.field(
        name="severity", default="info"
    )
    description: str = ""
    remediation: str = ""
    cwe: tuple[int, ...] = ()
    cve: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """The severity by its name in the table."""
        return SEVERITIES[self.severity_name]


Text = TypeVar("Text", bound=ProblemText)


def load_texts(path: Path, kind: type[Text]) -> dict[str, Text]:
    """Return the tables of the TOML file by name; ``{key}`` in a text stands for a text of ``shared``."""
    tables = msgspec.toml.decode(path.read_bytes(), type=dict[str, dict[str, object]])
    if shared := tables.pop("shared", None):
        for table in tables.values():
            table.update((key, text.format(**shared)) for key, text in table.items() if isinstance(text, str))
    return msgspec.convert(tables, dict[str, kind])  # type: ignore[valid-type]
