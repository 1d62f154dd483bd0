"""View models of the page of the plan."""

import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import msgspec
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from foundation.texts.stored_texts import in_language
from portal.texts import labels
from signed_api.billing import (
    AccountEntitlement,
    EntitlementEvent,
    EntitlementResponse,
    LimitUse,
    OfferedPlan,
)

NEAR_PERCENT = 80  # as in the service
TRIAL_PLAN = "trial"  # of a new account; texts leave its name out
PACE_DAYS = 7  # of calls, for the average
FIELDS = labels.LIMITS | {
    "plan": gettext_lazy("Plan"),
    "status": gettext_lazy("State"),
    "starts_on": gettext_lazy("First day"),
    "ends_on": gettext_lazy("Last day"),
    "renews": gettext_lazy("Renews"),
    "cancels": pgettext_lazy("plan", "Cancelled"),
    "sites_limit": labels.LIMITS["websites"],
    "features": gettext_lazy("Includes"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """A limit and its use; ``forecast`` says when it will be reached."""

    name: str
    label: str
    used: int | None
    limit: int | None
    state: str
    text: str
    forecast: str
    is_over: bool = False  # more websites than the plan includes


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanColumn:
    """A plan to choose from: ``values`` are its limits in the order of labels.LIMITS, ``own`` marks yours."""

    title: str
    price: str
    values: tuple[str, ...]
    features: tuple[str, ...]
    trial_days: int
    own: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of the entitlement, in words."""

    at: datetime
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSection:
    """The plan of one account: state, next step, limits, plans to choose from and history."""

    name: str
    state: str
    tone: str
    sentence: str
    next_step: str
    is_waiting: bool  # for a payment or a decision of the customer
    is_suspended: bool  # by staff, or long unpaid: the customer must contact us
    meters: tuple[Meter, ...]
    plans: tuple[PlanColumn, ...]
    limit_labels: tuple[str, ...]
    history: tuple[Change, ...]


def plan_section(answer: EntitlementResponse, *, members: int, now: datetime) -> PlanSection:
    """Return the section of the page for the service's answer."""
    own = answer.entitlement
    meters = tuple(
        _meter(use, answer, members=members, now=now) for use in answer.limits if use.name in labels.LIMITS
    )
    sentence, next_step = state_in_words(own, now.date(), is_over=any(meter.is_over for meter in meters))
    names = {plan.slug: in_language(plan.names, plan.slug) for plan in answer.plans}
    is_suspended = own is not None and own.status == "suspended"
    changes = [_change(event, names) for event in answer.history]
    return PlanSection(
        name=own_name(own),
        state=labels.label(labels.PLAN_STATES, own.status) if own else "",
        tone=_tone(own),
        sentence=sentence,
        next_step=next_step,
        is_waiting=not is_suspended
        and (own is None or own.cancels or own.status not in ("active", "trialing")),
        is_suspended=is_suspended,
        meters=meters,
        plans=tuple(_column(plan, answer) for plan in answer.plans),
        limit_labels=tuple(map(str, labels.LIMITS.values())),
        history=tuple(change for change in changes if change.texts),
    )


def _tone(own: AccountEntitlement | None) -> str:
    """Return the tone of the state: ok, partial (needs attention) or failed (no results)."""
    if own is None or own.status not in ("active", "trialing", "past_due"):
        return "failed"
    return "partial" if own.cancels or own.status == "past_due" else "ok"


def own_name(own: AccountEntitlement | None) -> str:
    """Return the name of the plan in the reader's language."""
    return in_language(own.names, _as_name(own.plan)) if own else ""


def _as_name(slug: str) -> str:
    return slug.replace("_", " ").capitalize()


def state_in_words(own: AccountEntitlement | None, today: date, *, is_over: bool = False) -> tuple[str, str]:
    """Return the state in one sentence, and the next step; ``is_over``: there are too many websites."""
    if own is None:
        return _("This organization has no plan."), _("Choose one to see results.")
    values = {"plan": own_name(own), "day": labels.day(own.ends_on), "until": labels.day(own.usable_until)}
    kept = _("Nothing is deleted: results are there again as soon as a plan is active.")
    match own.status:
        case "trialing" | "active" if own.starts_on and own.starts_on > today:
            values["day"] = labels.day(own.starts_on)
            text = _("Your plan %(plan)s begins on %(day)s.")
            next_step = _("There are no results until then.")
        case "trialing" | "active" if own.renews and own.ends_on < today:
            text = _("The payment for %(plan)s after %(day)s is not confirmed yet.")
            next_step = _(
                "Everything works until %(until)s. If it is not confirmed by then, results, downloads and "
                "e-mails stop."
            )
        case "trialing" if own.renews:
            text = _("Your trial of %(plan)s runs until %(day)s; the plan follows without a break.")
            next_step = "" if is_over else _("You need not do anything.")
        case "trialing":
            text = _("Your trial of %(plan)s runs until %(day)s.")
            if own.plan == TRIAL_PLAN:
                text = _("Your trial runs until %(day)s.")
            next_step = (
                _("Choose a plan by then. Without one, results, downloads and e-mails stop.") + " " + kept
            )
        case "past_due":
            values["since"] = labels.day(own.past_due_since or own.ends_on)
            text = _("A payment for %(plan)s has been missing since %(since)s.")
            next_step = _(
                "Everything works until %(until)s, but no website or member can be added, and no scan "
                "begins. Without a payment or another plan, results, downloads and e-mails stop then."
            )
        case "suspended":
            text = _("Your plan %(plan)s is suspended.")
            next_step = _("Results, downloads and e-mails have stopped. Contact us to continue.") + " " + kept
        case "expired":
            text = _("Your plan %(plan)s ended on %(day)s.")
            if own.past_due_since:
                values |= {"since": labels.day(own.past_due_since), "day": values["until"]}
                text = _(
                    "Your plan %(plan)s ended on %(day)s, because a payment has been missing since %(since)s."
                )
            elif own.ends_on > today:  # it was ended early
                text = _("Your plan %(plan)s has ended.")
            next_step = _("Results, downloads and e-mails have stopped.") + " " + kept
        case _ if own.cancels:
            text = _("You have cancelled %(plan)s: it runs until %(day)s.")
            next_step = (
                _("Then results, downloads and e-mails stop, unless another plan follows.") + " " + kept
            )
        case _ if own.renews:
            text = _("Your plan %(plan)s is active, and renews after %(day)s.")
            next_step = "" if is_over else _("You need not do anything.")
        case _:
            text = _("Your plan %(plan)s is active until %(day)s.")
            next_step = (
                _("Then results, downloads and e-mails stop, unless another plan follows.") + " " + kept
            )
    return text % values, next_step % values


def _meter(use: LimitUse, answer: EntitlementResponse, *, members: int, now: datetime) -> Meter:
    if use.name == "seats":
        use = seats_in_use(use, members)
    return Meter(
        name=use.name,
        label=str(labels.LIMITS.get(use.name, use.name)),
        used=use.used,
        limit=use.limit,
        state=use.state,
        text=_usage_text(use.used, use.limit),
        forecast=_forecast(use, answer, now) if use.limit is not None else "",
        is_over=use.name == "websites" and use.limit is not None and (use.used or 0) > use.limit,
    )


def seats_in_use(use: LimitUse, members: int) -> LimitUse:
    """Return the limit of members with its use, invitations included, which only the portal knows."""
    state = "ok"
    if use.limit is not None and members * 100 >= use.limit * NEAR_PERCENT:
        state = "reached" if members >= use.limit else "near"
    return msgspec.structs.replace(use, used=members, state=state)


def over_in_words(day: str) -> str:
    """Return what happens to the websites beyond the plan's limit."""
    text = _(
        "Owners choose until %(day)s which websites stay; without a choice, the oldest do. The others are "
        "paused then. Nothing is deleted, and a larger plan brings them back."
    )
    return text % {"day": day}


def _usage_text(used: int | None, limit: int | None) -> str:
    if limit is None:
        return _("No limit") if used is None else _("%(used)s used, no limit") % {"used": number_format(used)}
    if used is None:
        return number_format(limit)
    return _("%(used)s of %(limit)s used") % {"used": number_format(used), "limit": number_format(limit)}


def _forecast(use: LimitUse, answer: EntitlementResponse, now: datetime) -> str:
    """Return when the limit will be reached at the current pace, or when it starts again."""
    limit, used, today = use.limit or 0, use.used or 0, now.date()
    if use.name == "websites" and used > limit:
        notices = [each for each in answer.notices if each.kind == "websites_over"]
        until = max((each.at + timedelta(days=each.days or 0) for each in notices), default=None)
        if until and until > now:
            return over_in_words(labels.day(until.date()))
        return _(
            "The websites beyond your plan are paused. Owners can change which; a larger plan brings all "
            "back."
        )
    if use.name == "calls_per_day":
        pace = _calls_a_day(answer, today)
        if use.state == "reached":
            return _("Your programs' calls are refused until midnight UTC. The portal works as always.")
        if pace >= limit:
            return _("At this week's pace the limit is reached every day.")
        if use.state == "near" or used > pace:
            return ""
        text = _("At this week's pace, %(count)s calls a day, the limit is not reached.")
        return text % {"count": number_format(round(pace))}
    if use.name == "scans_per_month" and use.resets_at and use.state != "reached" and limit and used:
        used_a_day = used / today.day
        reached_on = today + timedelta(days=math.ceil((limit - used) / used_a_day))
        if reached_on < use.resets_at.date():
            text = _("At this month's pace the limit is reached on %(day)s.")
            return text % {"day": labels.day(reached_on)}
        return _("At this month's pace the limit is not reached.")
    if use.resets_at and use.state == "reached":
        return _("It starts again on %(day)s.") % {"day": labels.day(use.resets_at.date())}
    return ""


def _calls_a_day(answer: EntitlementResponse, today: date) -> float:
    """Return the average of the last seven whole days, starting at the first day with calls."""
    with_calls = [day.day for day in answer.calls_by_day if day.calls]
    first = max(min(with_calls, default=today), today - timedelta(days=PACE_DAYS))
    calls = sum(day.calls for day in answer.calls_by_day if first <= day.day < today)
    return calls / max((today - first).days, 1)


def _column(plan: OfferedPlan, answer: EntitlementResponse) -> PlanColumn:
    values = (plan.limits.get(name) for name in labels.LIMITS)
    return PlanColumn(
        title=in_language(plan.names, plan.slug),
        price=in_language(plan.prices),
        values=tuple(_("No limit") if value is None else number_format(value) for value in values),
        features=tuple(labels.label(labels.FEATURES, feature) for feature in plan.features),
        trial_days=plan.trial_days,
        own=_own_text(plan, answer),
    )


def _own_text(plan: OfferedPlan, answer: EntitlementResponse) -> str:
    """Return how the reader's own plan differs from this one; empty for another plan."""
    own = answer.entitlement
    if own is None or own.plan != plan.slug:
        return ""
    if own.revision != plan.revision:
        return _("yours is an earlier version, with the limits above")
    if any(use.limit != plan.limits.get(use.name) for use in answer.limits if use.name in labels.LIMITS):
        return _("yours, with the limits above")
    return _("yours")


def _change(event: EntitlementEvent, names: dict[str, str]) -> Change:
    """Return a change in words; ``names`` are plan names by slug."""
    before = event.before or {}
    texts = []
    for name, value in event.after.items():
        is_empty_at_start = event.before is None and value in (None, "", False)
        if name not in FIELDS or is_empty_at_start:
            continue
        text = f"{FIELDS[name]}: {_value(name, value, names)}"
        if name in before:
            text = _("%(field)s: %(before)s, now %(after)s") % {
                "field": FIELDS[name],
                "before": _value(name, before[name], names),
                "after": _value(name, value, names),
            }
        texts.append(text)
    return Change(at=event.at, texts=tuple(texts))


def _value(name: str, value: Any, names: dict[str, str]) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None or value == "":
        return _("none")
    if name == "plan":
        return names.get(str(value)) or _as_name(str(value))
    if name == "status":
        return labels.label(labels.PLAN_STATES, str(value))
    if name in ("starts_on", "ends_on"):
        try:
            return labels.day(date.fromisoformat(str(value)))
        except ValueError:
            return str(value)
    if name == "features":
        return ", ".join(labels.label(labels.FEATURES, part) for part in str(value).split(", "))
    return number_format(value) if isinstance(value, int) else str(value)
