"""Routes about the account: its calls, its secrets, the versions of its websites, consent to publish."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any

from signed_api import limits
from signed_api.routes import AUDIT, NO_LINK, Route
from signed_api.values import (
    CALL_PATTERN,
    DAY,
    TRUE_OR_FALSE,
    AccountRequest,
    Count,
    Few,
    HostName,
    Many,
    Member,
    Moment,
    Number,
    NumericId,
    Ok,
    PageField,
    PageSize,
    Some,
    about,
    any_text,
    id_of,
    one_of,
    whole_number,
)

ANSWERED, REFUSED = OUTCOMES = ("answered", "refused")
AS_ACCOUNT = "as_account"
PUBLICITIES = ("nothing", "counted", "shown")


class CallsRequest(AccountRequest, frozen=True, kw_only=True):
    """A request to list the account's calls."""

    day: Annotated[date | None, DAY, about("Only the calls of this day, in UTC.")] = None
    outcome: Annotated[
        str,
        one_of(OUTCOMES),
        about("answered: only calls with status 200; refused: only calls with another status."),
    ] = ""
    before: Annotated[
        str,
        any_text("call_position", pattern=CALL_PATTERN),
        about("The before of an earlier response: get older calls."),
    ] = ""
    page_size: Annotated[
        int, whole_number(at_most=limits.MAX_CALLS), about(f"The default is {limits.DEFAULT_CALLS}.")
    ] = limits.DEFAULT_CALLS


class AccountChangesRequest(AccountRequest, frozen=True, kw_only=True):
    """A request to list the account's websites with their versions."""


class SecretsRequest(AccountRequest, frozen=True, kw_only=True):
    """A request to list the account's secrets; it can issue or retire one first."""

    issue: Annotated[bool, TRUE_OR_FALSE, about("true: issue another secret.")] = False
    retire: Annotated[
        str, id_of("id of a secret"), about("The id of a secret to retire: it works for one more day.")
    ] = ""


class PublicityRequest(AccountRequest, frozen=True, kw_only=True):
    """A request to read or change what may be published about the account's websites.

    Without a host, ``publicity`` changes the default of the account.
    """

    host: Annotated[
        str, any_text("host", minLength=1), about("Change this website; the default is the account.")
    ] = ""
    publicity: Annotated[
        str,
        one_of((*PUBLICITIES, AS_ACCOUNT)),
        about("nothing, counted or shown; a website can also have as_account."),
    ] = ""
    region: Annotated[
        str,
        any_text("region", pattern="^([A-Za-z]{2}|[0-9]{3})$"),
        about("The region of the website: a country (DE), a continent of UN M49 (150), or 001."),
    ] = ""
    page: PageField = 1
    page_size: PageSize = limits.DEFAULT_PAGE_SIZE


class SignedCall(Member, frozen=True, kw_only=True):
    """A call on record."""

    at: Annotated[Moment, about("When it was received, in UTC.")]
    route: Annotated[str, about("The path without /v1/, such as site/dashboard.")]
    host: Annotated[str | None, about("The website; null if the call named no link of the account.")]
    secret_id: Annotated[str, about("The id of the secret that signed it.")]
    secret_hint: Annotated[str, about("The beginning of that secret; empty if it was deleted.")]
    status: Annotated[Number, about("The status of the response.")]
    code: Annotated[str | None, about("The error code; null if the call succeeded.")]
    request_id: Annotated[str, about("The X-Request-Id of the response.")]
    address: Annotated[str, about("The IP address of the caller.")]


class CallsResponse(Member, frozen=True, kw_only=True):
    """The calls of the account, newest first."""

    ok: Ok
    calls: Many[SignedCall]
    before: Annotated[str | None, about("Send it as before to get older calls; null if this is the end.")]


class WebsiteVersion(Member, frozen=True, kw_only=True):
    """A linked website with the version of its data."""

    host: Annotated[str, about("The website.")]
    link_id: Annotated[str, about("The link of the account to it.")]
    version: Annotated[str, about("Changes whenever the website's data changes.")]


class AccountChangesResponse(Member, frozen=True, kw_only=True):
    """The linked websites of the account, each with its version."""

    ok: Ok
    websites: Annotated[list[WebsiteVersion], about("Sorted by host.")]


class AccountSecret(Member, frozen=True, kw_only=True):
    """A secret of the account that currently works."""

    id: Annotated[NumericId, about("Its id, for retire.")]
    hint: Annotated[str, about("The beginning of the secret, to tell secrets apart.")]
    state: Annotated[str, about("active or retiring. A retiring secret works until retires_at.")]
    is_test: Annotated[bool, about("Whether its calls get the example website.")]
    for_portal: Annotated[bool, about("Whether it belongs to the portal, or signed this call.")]
    created_at: Annotated[Moment, about("When it was issued.")]
    retires_at: Annotated[Moment | None, about("When a retiring secret ends.")]
    last_used_at: Annotated[Moment | None, about("The last use, to the minute; null: never used.")]


class SecretsResponse(Member, frozen=True, kw_only=True):
    """The account's working secrets, newest first; a new secret is shown this once."""

    ok: Ok
    secrets: Few[AccountSecret]
    secret: Annotated[str | None, about("The issued secret; it is not shown again.")]


class WebsitePublicity(Member, frozen=True, kw_only=True):
    """What may be published about one website."""

    host: Annotated[HostName, about("The website.")]
    publicity: Annotated[str, about("as_account, nothing, counted or shown.")]
    effective: Annotated[str, about("What applies: the stricter of the account's and the website's own.")]
    region: Annotated[str, about("A country, a continent of UN M49, or 001.")]


class PublicityResponse(Member, frozen=True, kw_only=True):
    """What may be published about the account's websites."""

    ok: Ok
    publicity: Annotated[str, about("The account's default: nothing, counted or shown.")]
    websites: Some[WebsitePublicity]
    total: Annotated[Count, about("The number of websites on all pages.")]


def _between_publicity(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "host" not in given and ("region" in given or given.get("publicity") == AS_ACCOUNT):
        yield "host", "must name the website that is changed"


CALLS = Route(
    path="/v1/account/calls",
    name="accountCalls",
    summary="The signed calls of the account",
    description="An addition to the specification: lists the calls with a valid signature of the last 180 "
    "days, newest first. It needs no plan. Your own calls of this route, with the same secret from the same "
    "address, are left out.",
    request=CallsRequest,
    response=CallsResponse,
    absent_codes=("unknown_link", "inactive_entitlement", "revoked_link"),
    group=AUDIT,
    is_counted=False,
)
ACCOUNT_CHANGES = Route(
    path="/v1/account/changes",
    name="accountChanges",
    summary="The websites of the account, each with a version that changes with its data",
    description="An addition to the specification, for programs that follow many websites: request "
    "/v1/site/changes only for a website with a new version. This call does not count towards the calls of "
    "a day.",
    request=AccountChangesRequest,
    response=AccountChangesResponse,
    absent_codes=NO_LINK,
    is_counted=False,
)
SECRETS = Route(
    path="/v1/account/secrets",
    name="accountSecrets",
    summary="The secrets of the account",
    description="An addition to the specification, for the portal only: makes the change in the request, and "
    "lists the secrets that work. Calls that a customer signs are refused, so that a stolen secret cannot "
    "issue another one.",
    request=SecretsRequest,
    response=SecretsResponse,
    own_codes=("secret_refused",),
    absent_codes=(*NO_LINK, "inactive_entitlement"),
    group=AUDIT,
    changes=True,
    is_repeatable=False,
)
PUBLICITY = Route(
    path="/v1/account/publicity",
    name="accountPublicity",
    summary="What may be published about the account's websites",
    description="An addition to the specification: makes the change in the request, and returns what "
    "statistics and the live feed may use. A change takes effect within an hour. It needs no plan.",
    request=PublicityRequest,
    response=PublicityResponse,
    absent_codes=("inactive_entitlement", "revoked_link"),
    group=AUDIT,
    between_fields=_between_publicity,
    changes=True,
)
ROUTES: tuple[Route[Any, Any], ...] = (CALLS, ACCOUNT_CHANGES, SECRETS, PUBLICITY)
