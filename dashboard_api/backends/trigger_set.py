"""A set of triggers by name, each named for what it does."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Names that begin with ``prefix``, each with the statements that make its trigger.

    ``refresh`` corrects what changed while there were none.
    """

    prefix: str
    triggers: Mapping[str, Sequence[str]]
    refresh: Sequence[str]


def named(prefix: str, event: str, statements: Sequence[str]) -> tuple[str, list[str]]:
    """A name that ends in a digest of ``statements``, and these with ``{name}`` filled in."""
    digest = hashlib.sha256("\n".join(statements).encode()).hexdigest()[:8]
    name = f"{prefix}_{event}_{digest}"
    return name, [statement.replace("{name}", name) for statement in statements]
