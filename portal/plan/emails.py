"""E-mails to owners about their plan: one for each notice of the service."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import partial

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from portal.answers import service
from portal.emails.to_owners import Outcome, Words, for_each_account, send
from portal.models import Account, ClaimEmail
from portal.plan.view_models import TRIAL_PLAN, over_in_words, own_name, seats_in_use, state_in_words
from portal.texts import labels
from signed_api.billing import AccountEntitlement, EntitlementResponse, LimitUse, Notice

RECENT = timedelta(days=2)  # older notices get no e-mail
RETRY_AGE = timedelta(days=10)  # unless an earlier run tried; as long as notifications wait
_WORKING = ("trialing", "active", "past_due")
_LIMIT_STATES = {"limit_near": "near", "limit_reached": "reached"}


def send_due(*, clock: Callable[[], datetime] = timezone.now) -> Outcome:
    """Read the plan of every account with an owner, and send the e-mails about it that are due."""
    outcome = Outcome()
    for_each_account(partial(_send, outcome=outcome, clock=clock), outcome)
    return outcome


def _send(account: Account, *, outcome: Outcome, clock: Callable[[], datetime]) -> None:
    answer, now = service.get_entitlement(account), clock()
    for notice in answer.notices:
        words = _notice_words(notice, answer, now.date())
        if words is None:
            continue
        key = f"plan:{notice.id}:{notice.kind}:{notice.at:%Y-%m-%d}"
        was_tried = ClaimEmail.objects.filter(membership__account=account, key=key).exists()
        if now - notice.at < (RETRY_AGE if was_tried else RECENT):
            send(account, key, words, outcome, now)
    use = _seats_to_mention(account, answer, now)
    if use is not None:
        key = f"plan:seats:{use.state}:of {use.limit}"  # once for each value of the limit
        send(account, key, partial(_limit_words, use), outcome, now)


def _seats_to_mention(account: Account, answer: EntitlementResponse, now: datetime) -> LimitUse | None:
    """Return the limit of members, if the plan works and the limit is nearly or fully used."""
    if answer.entitlement is None or answer.entitlement.status not in _WORKING:
        return None
    limits = [use for use in answer.limits if use.name == "seats"]
    uses = [seats_in_use(use, account.seats_taken(now)) for use in limits]
    return next((use for use in uses if use.state != "ok"), None)


def _notice_words(notice: Notice, answer: EntitlementResponse, today: date) -> Callable[[], Words] | None:
    """Return the words of a notice, if it still applies."""
    own = answer.entitlement
    if own is None:
        return None
    if notice.kind in _LIMIT_STATES:
        use = next((use for use in answer.limits if use.name == notice.limit), None)
        if use is None or use.name not in labels.LIMITS or use.state != _LIMIT_STATES[notice.kind]:
            return None
        return lambda: _limit_words(use)
    if notice.kind == "websites_over":
        sites = next((use for use in answer.limits if use.name == "websites"), None)
        if sites is None or sites.limit is None or (sites.used or 0) <= sites.limit:
            return None
        return lambda: _websites_words(notice, sites)
    still_true = {
        "trial_ends": own.status == "trialing",
        "plan_ends": not own.renews and own.status in ("active", "trialing"),
    }
    if not still_true.get(notice.kind, own.status == notice.kind):  # other kinds are names of states
        return None
    return lambda: _plan_words(notice.kind, own, today)


def _plan_words(kind: str, own: AccountEntitlement, today: date) -> Words:
    subjects = {
        "trial_ends": _("Your trial of %(plan)s ends on %(day)s"),
        "plan_ends": _("Your plan %(plan)s ends on %(day)s"),
        "past_due": _("A payment for %(plan)s is missing"),
        "suspended": _("Your plan %(plan)s is suspended"),
        "expired": _("Your plan %(plan)s has ended"),
    }
    if own.plan == TRIAL_PLAN:
        subjects["trial_ends"] = _("Your trial ends on %(day)s")
    if own.ends_on == today:
        subjects["trial_ends"] = _("Your trial of %(plan)s ends today")
        if own.plan == TRIAL_PLAN:
            subjects["trial_ends"] = _("Your trial ends today")
        subjects["plan_ends"] = _("Your plan %(plan)s ends today")
    subject = subjects[kind] % {"plan": own_name(own), "day": labels.day(own.ends_on)}
    return _words(subject, " ".join(state_in_words(own, today)))


def _websites_words(notice: Notice, use: LimitUse) -> Words:
    subject = _("Your plan includes fewer websites than you have")
    day = labels.day((notice.at + timedelta(days=notice.days or 0)).date())
    used = _("%(used)s of %(limit)s used") % {
        "used": number_format(use.used or 0),
        "limit": number_format(use.limit or 0),
    }
    return _words(subject, f"{used}. {over_in_words(day)}")


def _limit_words(use: LimitUse) -> Words:
    used = {"used": number_format(use.used or 0), "limit": number_format(use.limit or 0)}
    text = _("%(used)s of %(limit)s used") % used + "."
    if use.state == "near":
        subject = _("%(limit)s: nearly reached")
        if use.name == "scans_per_month":
            text += " " + _("The page of your plan shows when the limit will be reached.")
        elif use.name == "seats":
            text += " " + _("Open invitations count as seats.")
    else:
        subject = _("%(limit)s: limit reached")
        day = labels.day(use.resets_at.date()) if use.resets_at else ""
        text += " " + _consequence(use.name) % {"day": day}
    return _words(subject % {"limit": labels.LIMITS[use.name]}, text)


def _consequence(limit: str) -> str:
    """Return what happens at the limit, and what to do."""
    match limit:
        case "websites":
            return _("Another website gets no results until you remove one or choose a larger plan.")
        case "calls_per_day":
            return _("Your programs' calls are refused until midnight UTC. The portal works as always.")
        case "scans_per_month":
            return _("The next scan can begin on %(day)s. Findings can still be retested.")
        case "seats":
            return _("No one else can be invited. Remove a member or an invitation, or choose a larger plan.")
    return _("A larger plan has more.")


def _words(subject: str, text: str) -> Words:
    return Words(subject=subject, text=text, button=_("Open the plan"), path=reverse("portal:plan"))
