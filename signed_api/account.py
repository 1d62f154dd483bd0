"""The account: its calls, its secrets, its websites with their versions, and what may be published."""

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
    """A request for the calls of the account that signs it."""

    day: Annotated[date | None, DAY, about("Only the calls of this day, in UTC.")] = None
    outcome: Annotated[
        str,
        one_of(OUTCOMES),
        about("answered: only calls with status 200; refused: only those with another."),
    ] = ""
    before: Annotated[
        str,
        any_text("call_position", pattern=CALL_PATTERN),
        about("before of the last response: the calls that are older."),
    ] = ""
    page_size: Annotated[
        int, whole_number(at_most=limits.MAX_CALLS), about(f"The default is {limits.DEFAULT_CALLS}.")
    ] = limits.DEFAULT_CALLS


class AccountChangesRequest(AccountRequest, frozen=True, kw_only=True):
    """A request for the versions of the account's websites."""


class SecretsRequest(AccountRequest, frozen=True, kw_only=True):
    """A request for the secrets of the account that work, after a change of them."""

    issue: Annotated[bool, TRUE_OR_FALSE, about("true: issue another secret.")] = False
    retire: Annotated[
        str, id_of("id of a secret"), about("The id of a secret, which then works for one more day.")
    ] = ""


class PublicityRequest(AccountRequest, frozen=True, kw_only=True):
    """A request for what may be published about websites of the account, after a change of it.

    Without a host, ``publicity`` is that of the account.
    """

    host: Annotated[
        str, any_text("host", minLength=1), about("Change this website; the default is the account.")
    ] = ""
    publicity: Annotated[
        str,
        one_of((*PUBLICITIES, AS_ACCOUNT)),
        about("nothing, counted or shown; for a website also as_account."),
    ] = ""
    region: Annotated[
        str,
        any_text("region", pattern="^([A-Za-z]{2}|[0-9]{3})$"),
        about("Of the website: a country (DE), a continent of UN M49 (150), or 001."),
    ] = ""
    page: PageField = 1
    page_size: PageSize = limits.DEFAULT_PAGE_SIZE


class SignedCall(Member, frozen=True, kw_only=True):
    """A call on record; host is the website of its link, and null if it named no link of the account."""

    at: Annotated[Moment, about("When it was received, in UTC.")]
    route: Annotated[str, about("The path without /v1/, such as site/dashboard.")]
    host: Annotated[str | None, about("The website; null: none of the account.")]
    secret_id: Annotated[str, about("The number of the secret that signed it.")]
    secret_hint: Annotated[str, about("How that secret begins; empty if it was deleted.")]
    status: Annotated[Number, about("The status of the response.")]
    code: Annotated[str | None, about("The code of the error; null if it was answered.")]
    request_id: Annotated[str, about("X-Request-Id of the response.")]
    address: Annotated[str, about("The IP address of the caller.")]


class CallsResponse(Member, frozen=True, kw_only=True):
    """The calls of the account, the newest first."""

    ok: Ok
    calls: Many[SignedCall]
    before: Annotated[str | None, about("Send it as before to get older calls; null: there are none.")]


class WebsiteVersion(Member, frozen=True, kw_only=True):
    """A linked website, and a text that changes whenever its data changes."""

    host: Annotated[str, about("The website.")]
    link_id: Annotated[str, about("The link of the account to it.")]
    version: Annotated[str, about("Equal as long as nothing about the website changed.")]


class AccountChangesResponse(Member, frozen=True, kw_only=True):
    """The linked websites of the account, each with its version."""

    ok: Ok
    websites: Annotated[list[WebsiteVersion], about("By host.")]


class AccountSecret(Member, frozen=True, kw_only=True):
    """A secret of the account that works now."""

    id: Annotated[NumericId, about("Its id, for retire.")]
    hint: Annotated[str, about("The beginning, to tell secrets apart.")]
    state: Annotated[str, about("active or retiring. retiring: it works until retires_at.")]
    is_test: Annotated[bool, about("Its calls get the example website.")]
    for_portal: Annotated[bool, about("Only the portal has it, or it signs this call.")]
    created_at: Annotated[Moment, about("When it was issued.")]
    retires_at: Annotated[Moment | None, about("When a retiring secret ends.")]
    last_used_at: Annotated[Moment | None, about("To the minute; null: never.")]


class SecretsResponse(Member, frozen=True, kw_only=True):
    """The secrets of the account that work now, the newest first, and the issued one in clear, once."""

    ok: Ok
    secrets: Few[AccountSecret]
    secret: Annotated[str | None, about("The issued secret, which is not shown again.")]


class WebsitePublicity(Member, frozen=True, kw_only=True):
    """The part of a website that may be published."""

    host: Annotated[HostName, about("The website.")]
    publicity: Annotated[str, about("as_account, nothing, counted or shown.")]
    effective: Annotated[str, about("What holds: that of the account, or a stricter one.")]
    region: Annotated[str, about("A country, a continent of UN M49, or 001.")]


class PublicityResponse(Member, frozen=True, kw_only=True):
    """The part of the account's websites that may be published."""

    ok: Ok
    publicity: Annotated[str, about("Of the account: nothing, counted or shown.")]
    websites: Some[WebsitePublicity]
    total: Annotated[Count, about("The websites on all pages.")]


def _between_publicity(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "host" not in given and ("region" in given or given.get("publicity") == AS_ACCOUNT):
        yield "host", "must name the website that is changed"


CALLS = Route(
    path="/v1/account/calls",
    name="accountCalls",
    summary="The signed calls of the account",
    description="An addition to the specification: the calls of the last 180 days whose signature was "
    "right, the newest first. An account without a plan may read them, too. Your own calls of this route, "
    "with the same secret from the same address, are left out.",
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
    description="An addition to the specification, for programs that look for news of many websites: "
    "request /v1/site/changes only for those whose version differs from the last. It does not count "
    "against the calls of a day.",
    request=AccountChangesRequest,
    response=AccountChangesResponse,
    absent_codes=NO_LINK,
    is_counted=False,
)
SECRETS = Route(
    path="/v1/account/secrets",
    name="accountSecrets",
    summary="The secrets of the account",
    description="An addition to the specification, for the portal alone: the secrets that work, after the"
    " change that the request names. Calls that a customer signs are refused, so that a lost secret "
    "cannot issue another one.",
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
    description="An addition to the specification: answers what statistics and the live feed may use, "
    "after the change that the request names. It is in force within an hour. An account without a plan "
    "may change it, too.",
    request=PublicityRequest,
    response=PublicityResponse,
    absent_codes=("inactive_entitlement", "revoked_link"),
    group=AUDIT,
    between_fields=_between_publicity,
    changes=True,
)
ROUTES: tuple[Route[Any, Any], ...] = (CALLS, ACCOUNT_CHANGES, SECRETS, PUBLICITY)
