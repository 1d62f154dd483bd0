"""The words of a finding, used to search lists."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.db import models

from foundation.texts.words import words_of

if TYPE_CHECKING:
    from dashboard_api.models.findings import Finding

SEARCHED_LENGTH = 12_000  # characters of all texts of a finding together


def searched_words(
    title: str, location: str, rule: str, cve: Sequence[str], description: str, other_locations: str
) -> str:
    """Return each word of these texts once, with a space before and after it."""
    texts = " ".join((title, location, rule, *cve, description, other_locations))[:SEARCHED_LENGTH]
    return f" {' '.join(dict.fromkeys(words_of(texts)))} "


def words_of_finding(finding: "Finding") -> str:
    """Return the searched words of ``finding``."""
    return searched_words(
        finding.title,
        finding.location,
        finding.rule,
        finding.cve,
        finding.description,
        finding.other_locations,
    )


class WordsField(models.TextField):  # type: ignore[type-arg]  # of texts
    """The words of a finding; the ORM computes them from its texts on every save."""

    def deconstruct(self) -> Any:
        """Describe a plain field of Django, because migrations do not import the product."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

    def pre_save(self, model_instance: "models.Model", add: bool) -> Any:
        """Return the words, and set them on the finding."""
        finding: Finding = model_instance  # type: ignore[assignment]
        finding.words = words_of_finding(finding)
        return finding.words
