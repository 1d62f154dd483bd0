"""Decided disputes of scanners' rules: how many, and how often an analyst agreed."""

from typing import Any, NamedTuple

from django.db.models import Count, F, Q, QuerySet

from dashboard_api.models import Answer, Case, Finding

MAX_RULES, MAX_EARLIER = 100, 5
Outcome = Answer.Outcome


class Decided(NamedTuple):
    """Numbers of disputes that analysts decided, and of those with which they agreed."""

    disputes: int
    agreed: int

    @property
    def disagreed(self) -> int:
        """The number of those with which they did not agree."""
        return self.disputes - self.agreed


class RuleHistory(NamedTuple):
    """Earlier disputes of one rule: of this account, of others, and the newest decisions."""

    own: Decided
    others: Decided
    cases: tuple[Case, ...]


def disputed_rules() -> list[Any]:
    """Return the rules with decided disputes, the largest share of agreed ones first."""
    rules = _decided().exclude(finding__rule="")
    counted = rules.order_by().values(
        source=F("finding__source"), scanner=F("finding__source__name"), rule=F("finding__rule")
    )
    counted = counted.annotate(
        disputes=_number_of_cases(), agreed=_number_of_cases(Q(outcome=Outcome.AGREED))
    )
    counted = counted.annotate(share=F("agreed") * 100 / F("disputes"))
    return list(counted.order_by("-share", "-disputes", "scanner", "rule")[:MAX_RULES])


def history_of(finding: Finding, account_id: int, *, without: int) -> RuleHistory:
    """Return the decided disputes of the finding's rule, ``without`` this case."""
    decided = _decided().filter(finding__source=finding.source_id, finding__rule=finding.rule)
    decided = decided.exclude(case=without)
    if not finding.rule:
        decided = decided.filter(finding__title=finding.title)
    is_own = Q(account=account_id)
    is_agreed = Q(outcome=Outcome.AGREED)
    counts = decided.order_by().aggregate(
        own=_number_of_cases(is_own),
        own_agreed=_number_of_cases(is_own & is_agreed),
        others=_number_of_cases(~is_own),
        others_agreed=_number_of_cases(~is_own & is_agreed),
    )
    cases = Case.objects.filter(pk__in=decided.values("case")).order_by("-closed_at", "-pk")
    return RuleHistory(
        own=Decided(counts["own"], counts["own_agreed"]),
        others=Decided(counts["others"], counts["others_agreed"]),
        cases=tuple(cases.exclude(closed_at=None).select_related("account")[:MAX_EARLIER]),
    )


def _decided() -> QuerySet[Answer]:
    outcomes = (Outcome.AGREED, Outcome.DISAGREED)
    return Answer.objects.filter(answer=Answer.Kind.DISPUTED, case__isnull=False, outcome__in=outcomes)


def _number_of_cases(condition: Q | None = None) -> Count:
    """Return an aggregate that counts cases: a dispute of many findings counts once."""
    return Count("case", distinct=True, filter=condition)
