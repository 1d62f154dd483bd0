"""The plan of the account: limits, usage and history, and the websites that stay in it."""

from datetime import date
from typing import Annotated, Any

from signed_api.routes import BILLING, NO_LINK, Route
from signed_api.values import (
    AccountRequest,
    Count,
    Few,
    HostName,
    Many,
    Member,
    Moment,
    Number,
    Ok,
    Some,
    about,
    any_text,
)


class EntitlementRequest(AccountRequest, frozen=True, kw_only=True):
    """A request for the plan of the account."""


class WebsitesRequest(AccountRequest, frozen=True, kw_only=True):
    """A request for the websites of the account, after a choice of those that stay in a smaller plan."""

    stay: Annotated[
        str,
        any_text("websites"),
        about(
            "Hosts with commas between them: the websites that stay while the plan includes fewer than the "
            "account has. The others are paused at pauses_at."
        ),
    ] = ""


class AccountEntitlement(Member, frozen=True, kw_only=True):
    """The plan of the account, in every state."""

    plan: Annotated[str, about("The name of the plan.")]
    names: Annotated[dict[str, str], about("The name by language; empty for a plan of your own.")]
    revision: Annotated[Number | None, about("Its version; null for a plan of your own.")]
    status: Annotated[str, about("Of the plan: trialing, active, past_due, suspended or expired.")]
    starts_on: Annotated[date, about("The first day of the plan.")]
    ends_on: Annotated[date, about("The last day of the plan.")]
    usable_until: Annotated[date, about("The last day on which calls are answered.")]
    renews: Annotated[bool, about("Whether the plan renews by itself.")]
    cancels: Annotated[bool, about("You have cancelled: the plan ends on its last day.")]
    past_due_since: Annotated[date | None, about("The day a payment failed; null: none is missing.")]
    is_usable: Annotated[bool, about("Whether calls about websites are answered today.")]
    may_grow: Annotated[bool, about("Whether websites can be added today.")]
    features: Annotated[Some[str], about("What the plan includes.")]


class LimitUse(Member, frozen=True, kw_only=True):
    """A limit of the plan, and how much of it is used."""

    name: Annotated[str, about("websites, calls_per_day, scans_per_month or seats. What is limited.")]
    unit: Annotated[str, about("websites, calls, scans or members. What is counted.")]
    limit: Annotated[Count | None, about("The limit; null: none.")]
    used: Annotated[Count | None, about("How much is used; null: it is not counted here.")]
    state: Annotated[str, about("ok, near or reached. near: from 80 percent; reached: from 100 percent.")]
    resets_at: Annotated[Moment | None, about("When the count starts again; null: it does not.")]
    is_override: Annotated[bool, about("Whether the limit was agreed for this account alone.")]


class DayOfCalls(Member, frozen=True, kw_only=True):
    """The calls of a day that count against the plan."""

    day: Annotated[date, about("The day, in UTC.")]
    calls: Annotated[Count, about("Their number.")]


class Notice(Member, frozen=True, kw_only=True):
    """Something to tell the owners once."""

    id: Annotated[str, about("Its id: tell each once.")]
    kind: Annotated[
        str,
        about(
            "limit_near, limit_reached, trial_ends, plan_ends, past_due, suspended, expired or "
            "websites_over. What it is about."
        ),
    ]
    limit: Annotated[str, about("The limit; empty: it is about the plan.")]
    days: Annotated[Number | None, about("Days until the end, or since the payment failed.")]
    at: Annotated[Moment, about("Since when it holds.")]


class OfferedPlan(Member, frozen=True, kw_only=True):
    """A plan that can be chosen."""

    slug: Annotated[str, about("Its name in programs.")]
    revision: Annotated[Number, about("Its newest version; accounts can have an earlier one.")]
    names: Annotated[dict[str, str], about("The name by language.")]
    prices: Annotated[dict[str, str], about("The price by language, in words.")]
    limits: Annotated[dict[str, Number | None], about("Each limit; null: none.")]
    features: Annotated[Some[str], about("What the plan includes.")]
    trial_days: Annotated[Count, about("How long a trial lasts; 0: there is none.")]


class EntitlementEvent(Member, frozen=True, kw_only=True):
    """A change of the entitlement: the values that changed, before and after it."""

    at: Annotated[Moment, about("When it changed.")]
    before: Annotated[dict[str, Any] | None, about("The former values; null: it was made.")]
    after: Annotated[dict[str, Any], about("The new values.")]


class EntitlementResponse(Member, frozen=True, kw_only=True):
    """The entitlement of the account with its limits, usage, notices and history."""

    ok: Ok
    entitlement: Annotated[AccountEntitlement | None, about("The plan; null: there is none.")]
    limits: Few[LimitUse]
    calls_by_day: Annotated[Some[DayOfCalls], about("The last 31 days, oldest first.")]
    notices: Annotated[Some[Notice], about("Those of the last 31 days, newest first.")]
    plans: Annotated[Few[OfferedPlan], about("Plans to choose from, smallest first.")]
    history: Annotated[Some[EntitlementEvent], about("At most 20, newest first.")]
    billing_ref: Annotated[str, about("Your reference for payments, for a checkout.")]


class AccountWebsite(Member, frozen=True, kw_only=True):
    """A linked website, and whether it stays in the plan."""

    host: Annotated[HostName, about("The website.")]
    link_id: Annotated[str, about("The link of the account to it.")]
    stays: Annotated[bool, about("Whether the plan includes it: as chosen, else the oldest.")]
    is_paused: Annotated[bool, about("Whether its calls are refused for websites_limit now.")]


class WebsitesResponse(Member, frozen=True, kw_only=True):
    """The linked websites of the account, and which of them stay in its plan."""

    ok: Ok
    limit: Annotated[Count | None, about("Websites that the plan includes; null: no plan.")]
    pauses_at: Annotated[
        Moment | None, about("When those that do not stay are paused; null: the plan includes all.")
    ]
    websites: Annotated[Many[AccountWebsite], about("By host.")]


ENTITLEMENT = Route(
    path="/v1/account/entitlement",
    name="accountEntitlement",
    summary="The plan of the account",
    description="An addition to the specification: limits, usage, notices and history, in every state of "
    "the plan. It does not count against the calls of a day.",
    request=EntitlementRequest,
    response=EntitlementResponse,
    absent_codes=(*NO_LINK, "inactive_entitlement"),
    group=BILLING,
    is_counted=False,
)
WEBSITES = Route(
    path="/v1/account/websites",
    name="accountWebsites",
    summary="The websites of the account that stay in its plan",
    description="An addition to the specification, for accounts with more websites than a smaller plan "
    "includes: with stay, chooses those that stay; the others are paused after 14 days, and nothing of "
    "them is deleted. The choice can be changed at any time.",
    request=WebsitesRequest,
    response=WebsitesResponse,
    absent_codes=("inactive_entitlement", "revoked_link"),
    group=BILLING,
)
ROUTES: tuple[Route[Any, Any], ...] = (ENTITLEMENT, WEBSITES)
