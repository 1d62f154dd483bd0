"""Create a plan, or change it."""

from typing import Any

import msgspec
from django.core.management.base import CommandError, CommandParser

from dashboard_api.billing import plans
from dashboard_api.management.entitlement_options import limit_and_value, names
from dashboard_api.models import Plan
from dashboard_api.models.plans import LIMIT_NAMES, check_limit
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py set_plan team --name Team --limit websites=20 --limit seats=10."""

    help = (
        "Create a plan, or change the values that are given. A revision that an account has had never "
        "changes: the next one follows, and accounts keep theirs until --move."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the name of the plan in programs, such as team")
        parser.add_argument("--name", dest="title", help="what customers read, in English")
        parser.add_argument("--name-de", dest="title_de", help="in German")
        parser.add_argument("--price", help="what customers read, in English, such as '29 EUR a month'")
        parser.add_argument("--price-de", help="in German")
        parser.add_argument("--rank", type=int, metavar="N", help="smaller plans come first")
        parser.add_argument(
            "--limit",
            action="append",
            type=limit_and_value,
            metavar="NAME=N",
            help=f"repeatable, such as seats=none; the limits are {', '.join(LIMIT_NAMES)}",
        )
        parser.add_argument(
            "--features",
            type=names,
            metavar="A,B",
            help="replaces the list; '' empties it; scans_daily and deep_scans allow such scans",
        )
        parser.add_argument("--trial-days", type=int, metavar="N", help="how long a trial lasts")
        offered = parser.add_mutually_exclusive_group()
        offered.add_argument("--offered", action="store_const", const=True, dest="is_offered")
        offered.add_argument("--not-offered", action="store_const", const=False, dest="is_offered")
        parser.add_argument(
            "--move",
            action="store_true",
            help="move the accounts of earlier revisions to this one; needs --reason",
        )

    def perform(self, *, slug: str, move: bool, by: str, reason: str, **options: Any) -> Result:
        """Store the plan, and move accounts to it."""
        newest = Plan.objects.newest(slug)
        plan = newest or Plan(slug=slug, name={})
        _set(plan, options)
        plan = plans.save(plan, by=by, reason=reason)
        changed = newest is None or (plan.pk, _fields(plan)) != (
            newest.pk,
            _fields(Plan.objects.get(pk=newest.pk)),
        )
        others = plans.to_move(plan)
        if move and others and not reason.strip():
            raise CommandError("Give the --reason of the move.")
        moved = plans.move_accounts(plan, by=by, reason=reason) if move and others else []
        left = "" if move or not others else f" {len(others)} accounts keep earlier revisions."
        done = f" Moved {len(moved)} accounts." if moved else ""
        return Result(
            text=f"{plan.slug}, revision {plan.revision}.{done}{left}",
            fields={"changed": changed or bool(moved), "moved": len(moved), "plan": _fields(plan)},
        )


def _set(plan: Plan, options: dict[str, Any]) -> None:
    for field, option in (("name", "title"), ("price_text", "price")):
        for code, suffix in (("en", ""), ("de", "_de")):
            if (text := options[option + suffix]) is not None:
                setattr(plan, field, {**getattr(plan, field), code: text})
    for name in ("rank", "features", "trial_days", "is_offered"):
        if options[name] is not None:
            setattr(plan, name, options[name])
    chosen = dict(options["limit"] or [])
    for name, value in chosen.items():
        check_limit(name, value)
    limits = plan.limits | chosen
    plan.limits = {name: value for name, value in limits.items() if value is not None}


def _fields(plan: Plan) -> dict[str, Any]:
    own = {name: getattr(plan, name) for name in ("slug", "revision", *plans.FIELDS)}
    return own | {"limits": msgspec.to_builtins(plan.terms)}
