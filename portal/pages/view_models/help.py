"""The help page, which explains the words on the other pages."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from portal.texts import labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word and its meaning; ``tone`` is the CSS class of a severity, else empty."""

    word: str
    meaning: str
    tone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermGroup:
    """Terms under one heading, such as the grades."""

    key: str
    title: str
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpPage:
    """Groups of terms, and the URL for support, which may be empty."""

    groups: tuple[TermGroup, ...]
    support_url: str


def help_page() -> HelpPage:
    """Return the help page with the labels that other pages use."""
    severities = tuple(
        Term(word=str(word), meaning=str(labels.SEVERITY_MEANINGS[severity]), tone=labels.tone(severity))
        for severity, word in labels.SEVERITIES.items()
    )
    verified = Term(word=str(labels.VERIFIED), meaning=str(labels.VERIFIED_MEANING))
    kinds = (verified, *_terms(labels.KINDS, labels.KIND_MEANINGS))
    return HelpPage(
        groups=(
            TermGroup(key="grades", title=_("Grades"), terms=_terms(_GRADES, labels.GRADE_MEANINGS)),
            TermGroup(key="severities", title=_("Severities"), terms=severities),
            TermGroup(key="kinds", title=_("Confidence"), terms=kinds),
            TermGroup(key="statuses", title=_("Status"), terms=_terms(_STATUSES, labels.STATUS_MEANINGS)),
            TermGroup(key="roles", title=_("Roles"), terms=_terms(labels.ROLES, labels.ROLE_MEANINGS)),
        ),
        support_url=settings.SUPPORT_URL,
    )


_GRADES: dict[str, str] = {grade: grade for grade in labels.GRADE_MEANINGS}
_STATUSES = {status: word for status, word in labels.STATUSES.items() if status != "all"}


def _terms(words: Mapping[str, str | Promise], meanings: Mapping[str, str | Promise]) -> tuple[Term, ...]:
    return tuple(Term(word=str(word), meaning=str(meanings[key])) for key, word in words.items())
