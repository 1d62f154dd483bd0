"""The key of a problem, shared by all findings with the same cause."""

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.db import models

if TYPE_CHECKING:
    from dashboard_api.models.findings import Finding

KEY_LENGTH = 16


def problem_key(source: str, rule: str, title: str) -> str:
    """Return the key for a rule of a source, or for the title of a finding without a rule."""
    return _key(source, "rule", rule) if rule else _key(source, "title", title)


@lru_cache(maxsize=4096)  # the findings of a website share a few rules
def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:KEY_LENGTH]


class ProblemField(models.CharField):  # type: ignore[type-arg]  # of texts
    """The problem of a finding; the ORM computes it from source, rule and title on every save."""

    def deconstruct(self) -> Any:
        """Describe a plain field of Django, because migrations do not import the product."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs

    def pre_save(self, model_instance: "models.Model", add: bool) -> Any:
        """Return the key, and set it on the finding."""
        finding: Finding = model_instance  # type: ignore[assignment]
        finding.problem = problem_key(finding.source.slug, finding.rule, finding.title)
        return finding.problem
