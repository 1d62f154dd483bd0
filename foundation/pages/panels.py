"""The panels of the operations home: numbers that link to the list of their rows."""

from dataclasses import dataclass

from django.utils.functional import Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with the URL of its rows; ``tone`` is a CSS class, empty if no action is needed."""

    label: str | Promise
    number: str
    url: str
    tone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Figures about one subject."""

    title: str | Promise
    figures: tuple[Figure, ...]
