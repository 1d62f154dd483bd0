"""Rate a scanner's rule, or set the scanner's minimum severity, also for all later imports."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from dashboard_api import ended_decisions, standing_decisions
from dashboard_api.management.lookup import find_website
from dashboard_api.models import Severity, Source, StandingDecision
from dashboard_api.standing_decisions import Reach
from foundation.operator_command import OnRecord, OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py decide_rule nuclei --rule exposed-panel --severity Low --reason "Behind a VPN"."""

    help = (
        "Decide about all findings of a scanner's rule (--rule and --severity), or accept as risks all "
        "findings of a scanner below a severity (--floor), on one website or on all. Later imports respect "
        "it, until --end takes back what it changed. A decision about a single finding always wins, and one "
        "for a website wins over one for all. Customers read the reason."
    )
    commits_itself = True
    on_record = OnRecord(reason="why; customers read it", needs_reason=True)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", metavar="SCANNER", help="such as nuclei or testssl")
        parser.add_argument("--rule", metavar="RULE", default="", help="as the finding's page shows it")
        parser.add_argument("--severity", choices=Severity.labels, help="of all findings of the rule")
        parser.add_argument(
            "--floor", choices=Severity.labels, help="findings below it are accepted risks; Info accepts none"
        )
        parser.add_argument("--host", metavar="HOST", help="one website; without it, all of them")
        parser.add_argument("--end", action="store_true", help="end the decision about this rule or floor")
        parser.add_argument(
            "--dry-run", action="store_true", help="count what would change, and change nothing"
        )

    def perform(
        self,
        *,
        source: str,
        rule: str,
        severity: str | None,
        floor: str | None,
        host: str | None,
        reason: str,
        by: str,
        end: bool,
        dry_run: bool,
        **options: Any,
    ) -> Result:
        """Begin or end the decision; one that is so already is applied again, which changes nothing."""
        _check(rule=rule, severity=severity, floor=floor, end=end, dry_run=dry_run)
        decision = StandingDecision(
            source=_find_source(source), rule=rule, website=find_website(host) if host else None
        )
        if end:
            return _end(decision, by=by, reason=reason)
        decision.severity = Severity[(severity or floor or "").upper()]
        decision.reason, decision.by = reason, by
        return _begin(decision, dry_run=dry_run)


def _check(*, rule: str, severity: str | None, floor: str | None, end: bool, dry_run: bool) -> None:
    if end:
        if severity or floor or dry_run:
            raise CommandError("Give --end with the scanner, --rule or --host alone.")
    elif (rule and severity and not floor) or (floor and not rule and not severity):
        return
    else:
        raise CommandError("Give either --rule with --severity, or --floor.")


def _find_source(slug: str) -> Source:
    source = Source.objects.filter(slug=slug).first()
    if source is None:
        slugs = ", ".join(Source.objects.values_list("slug", flat=True))
        raise CommandError(
            f"There is no scanner {slug}; there are: {slugs or 'none, before the first import'}."
        )
    return source


def _active(decision: StandingDecision) -> StandingDecision | None:
    """Return the active decision about the same."""
    same = StandingDecision.objects.active().filter(source=decision.source, rule=decision.rule.strip())
    return same.filter(website=decision.website).select_related("source", "website").first()


def _begin(decision: StandingDecision, *, dry_run: bool) -> Result:
    existing = _active(decision)
    if existing is not None and existing.severity != decision.severity:
        raise CommandError(f"There is another decision ({existing}): end it first with --end.")
    reach = standing_decisions.reach(existing or decision)
    if not dry_run:
        standing_decisions.begin(existing or decision, timezone.now())
    changed = existing is None and not dry_run
    text = f"{existing or decision}. {in_words(reach)}"
    if dry_run:
        text = f"Dry run: nothing was changed. {text}"
    elif existing is not None:
        text = f"{text} It was decided before."
    return Result(text=text, fields=_fields(existing or decision, changed=changed) | reach._asdict())


def _end(decision: StandingDecision, *, by: str, reason: str) -> Result:
    active = _active(decision)
    if active is None:
        return Result(
            text="There is no such decision. Nothing changed.", fields=_fields(decision, changed=False)
        )
    findings = ended_decisions.end(active, by=by, reason=reason, now=timezone.now())
    return Result(
        text=f"Ended: {active}. Findings as before: {findings}.",
        fields=_fields(active, changed=True) | {"findings": findings},
    )


def _fields(decision: StandingDecision, *, changed: bool) -> dict[str, Any]:
    return {
        "source": decision.source.slug,
        "rule": decision.rule,
        "host": decision.website.host if decision.website else None,
        "severity": decision.get_severity_display() if decision.severity is not None else None,
        "changed": changed,
    }


def in_words(reach: Reach) -> str:
    """Return the numbers as a sentence."""
    return (
        f"Changed findings: {reach.findings}, on websites: {reach.websites}, of accounts: {reach.accounts}."
    )
