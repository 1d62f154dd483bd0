"""Routes about the plan of the account: limits, usage, history, and the websites to keep in it."""

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
    """A request to list the account's websites; it can choose first which ones a smaller plan keeps."""

    stay: Annotated[
        str,
        any_text("websites"),
        about(
            "Hosts, separated by commas: the websites to keep if the plan includes fewer than the account "
            "has. The others are paused at pauses_at."
        ),
    ] = ""


class AccountEntitlement(Member, frozen=True, kw_only=True):
    """The plan of the account; it can be in any state, even expired."""

    plan: Annotated[str, about("The name of the plan.")]
    names: Annotated[dict[str, str], about("The name by language; empty for a custom plan.")]
    revision: Annotated[Number | None, about("The version of the plan; null for a custom plan.")]
    status: Annotated[str, about("The plan's status: trialing, active, past_due, suspended or expired.")]
    starts_on: Annotated[date, about("The first day of the plan.")]
    ends_on: Annotated[date, about("The last day of the plan.")]
    usable_until: Annotated[date, about("The last day on which calls are answered.")]
    renews: Annotated[bool, about("Whether the plan renews by itself.")]
    cancels: Annotated[bool, about("Whether you have cancelled: the plan then ends on its last day.")]
    past_due_since: Annotated[date | None, about("The day a payment failed; null: all payments arrived.")]
    is_usable: Annotated[bool, about("Whether calls about websites are answered today.")]
    may_grow: Annotated[bool, about("Whether websites can be added today.")]
    features: Annotated[Some[str], about("What the plan includes.")]


class LimitUse(Member, frozen=True, kw_only=True):
    """A limit of the plan and its use."""

    name: Annotated[str, about("websites, calls_per_day, scans_per_month or seats. What is limited.")]
    unit: Annotated[str, about("websites, calls, scans or members. What is counted.")]
    limit: Annotated[Count | None, about("The limit; null: unlimited.")]
    used: Annotated[Count | None, about("How much is used; null: it is not counted here.")]
    state: Annotated[str, about("ok, near or reached. near: from 80 percent; reached: from 100 percent.")]
    resets_at: Annotated[Moment | None, about("When the count starts again; null: it does not.")]
    is_override: Annotated[bool, about("Whether the limit was agreed for this account alone.")]


class DayOfCalls(Member, frozen=True, kw_only=True):
    """The number of calls of a day that count towards the plan's limit."""

    day: Annotated[date, about("The day, in UTC.")]
    calls: Annotated[Count, about("The number of calls.")]


class Notice(Member, frozen=True, kw_only=True):
    """A message for the owners of the account, to be shown once."""

    id: Annotated[str, about("Its id: use it to show each message only once.")]
    kind: Annotated[
        str,
        about(
            "limit_near, limit_reached, trial_ends, plan_ends, past_due, suspended, expired or "
            "websites_over. What it is about."
        ),
    ]
    limit: Annotated[str, about("The limit that it is about; empty: the plan.")]
    days: Annotated[Number | None, about("Days until the end, or since the payment failed.")]
    at: Annotated[Moment, about("When it became true.")]


class OfferedPlan(Member, frozen=True, kw_only=True):
    """A plan that the account can choose."""

    slug: Annotated[str, about("Its name in programs.")]
    revision: Annotated[Number, about("Its newest version; accounts can have an earlier one.")]
    names: Annotated[dict[str, str], about("The name by language.")]
    prices: Annotated[dict[str, str], about("The price by language, in words.")]
    limits: Annotated[dict[str, Number | None], about("Each limit; null: unlimited.")]
    features: Annotated[Some[str], about("What the plan includes.")]
    trial_days: Annotated[Count, about("The length of a trial in days; 0: no trial.")]


class EntitlementEvent(Member, frozen=True, kw_only=True):
    """A change of the entitlement: the changed values, before and after."""

    at: Annotated[Moment, about("When it changed.")]
    before: Annotated[dict[str, Any] | None, about("The old values; null when the entitlement was created.")]
    after: Annotated[dict[str, Any], about("The new values.")]


class EntitlementResponse(Member, frozen=True, kw_only=True):
    """The entitlement of the account with its limits, usage, notices and history."""

    ok: Ok
    entitlement: Annotated[AccountEntitlement | None, about("The plan; null: the account has no plan.")]
    limits: Few[LimitUse]
    calls_by_day: Annotated[Some[DayOfCalls], about("The last 31 days, oldest first.")]
    notices: Annotated[Some[Notice], about("The messages of the last 31 days, newest first.")]
    plans: Annotated[Few[OfferedPlan], about("Plans to choose from, smallest first.")]
    history: Annotated[Some[EntitlementEvent], about("At most 20, newest first.")]
    billing_ref: Annotated[str, about("Your reference for payments, for a checkout.")]


class AccountWebsite(Member, frozen=True, kw_only=True):
    """A linked website, and whether the plan keeps it."""

    host: Annotated[HostName, about("The website.")]
    link_id: Annotated[str, about("The link of the account to it.")]
    stays: Annotated[bool, about("Whether the plan keeps it: chosen websites first, then the oldest.")]
    is_paused: Annotated[bool, about("Whether its calls are refused now, with the reason websites_limit.")]


class WebsitesResponse(Member, frozen=True, kw_only=True):
    """The linked websites of the account; ``stays`` marks the ones that its plan keeps."""

    ok: Ok
    limit: Annotated[Count | None, about("How many websites the plan includes; null: no plan.")]
    pauses_at: Annotated[
        Moment | None, about("When the other websites are paused; null: the plan includes all.")
    ]
    websites: Annotated[Many[AccountWebsite], about("Sorted by host.")]


ENTITLEMENT = Route(
    path="/v1/account/entitlement",
    name="accountEntitlement",
    summary="The plan of the account",
    description="An addition to the specification: returns limits, usage, notices and history, even after "
    "the plan has ended. This call does not count towards the calls of a day.",
    request=EntitlementRequest,
    response=EntitlementResponse,
    absent_codes=(*NO_LINK, "inactive_entitlement"),
    group=BILLING,
    is_counted=False,
)
WEBSITES = Route(
    path="/v1/account/websites",
    name="accountWebsites",
    summary="The websites of the account, and which of them its plan keeps",
    description="An addition to the specification, for accounts with more websites than a smaller plan "
    "includes: stay chooses the websites to keep. The others are paused after 14 days; their data is kept. "
    "You can change the choice at any time.",
    request=WebsitesRequest,
    response=WebsitesResponse,
    absent_codes=("inactive_entitlement", "revoked_link"),
    group=BILLING,
)
ROUTES: tuple[Route[Any, Any], ...] = (ENTITLEMENT, WEBSITES)
