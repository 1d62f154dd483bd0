"""The type of the rules of the built-in engines."""

from typing import NamedTuple


class Rule(NamedTuple):
    """A rule. Its key in RULES never changes, because findings are recognised by it."""

    severity: str
    title: str
    description: str
    remediation: str
    cwe: int
