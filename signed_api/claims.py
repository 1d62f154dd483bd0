"""Routes about claims: an account proves that it controls a website."""

from typing import Annotated, Any

from signed_api import limits
from signed_api.routes import NO_LINK, OWNERSHIP, Route
from signed_api.values import (
    AccountRequest,
    Count,
    Few,
    HostField,
    HostName,
    Member,
    Moment,
    NumericId,
    Ok,
    PageField,
    PageSize,
    Reason,
    Some,
    Uuid,
    about,
    any_text,
    id_of,
    one_of,
    required,
)

PROOFS = ("dns", "file", "meta")
_CLAIM_ID = id_of("claim_id of a claim")
ClaimId = Annotated[str, required(_CLAIM_ID), about("claim_id of a claim.")]


class ClaimRequest(AccountRequest, frozen=True, kw_only=True):
    """A request to claim a website."""

    host: HostField


class ClaimCheckRequest(AccountRequest, frozen=True, kw_only=True):
    """A request to check a claim now."""

    claim_id: ClaimId
    method: Annotated[
        str,
        one_of(PROOFS),
        about(
            "Look only in this place and in the place of the last proof; such a check counts only if it "
            "finds the token. The default is to look everywhere."
        ),
    ] = ""


class ClaimWithdrawRequest(AccountRequest, frozen=True, kw_only=True):
    """A request to withdraw a claim."""

    claim_id: ClaimId
    reason: Reason


class ClaimsRequest(AccountRequest, frozen=True, kw_only=True):
    """A request to list the account's claims."""

    host: Annotated[str, any_text("host"), about("Only the claim to this host.")] = ""
    claim_id: Annotated[str, _CLAIM_ID, about("Only this claim, even if it ended long ago.")] = ""
    page: PageField = 1
    page_size: PageSize = limits.DEFAULT_PAGE_SIZE


class ProofFile(Member, frozen=True, kw_only=True):
    """A file to publish on the website."""

    url: Annotated[str, about("The address of the file.")]
    content: Annotated[str, about("One line of the file; other lines may follow.")]


class ProofRecord(Member, frozen=True, kw_only=True):
    """A TXT record to publish in DNS. It proves the host and all names below it."""

    name: Annotated[str, about("The name of the record.")]
    relative_name: Annotated[str, about("The name for DNS panels that append the domain.")]
    value: Annotated[str, about("The value of the record.")]


class ProofInstructions(Member, frozen=True, kw_only=True):
    """The places where you can publish the token; one is enough."""

    dns: Annotated[ProofRecord | None, about("null: the host is not a DNS name.")]
    file: ProofFile
    meta: Annotated[str, about("A tag for the head of the home page.")]


class ClaimCheck(Member, frozen=True, kw_only=True):
    """The last check of one place."""

    method: Annotated[str, about("The place: dns, file or meta.")]
    at: Annotated[Moment, about("When it was made.")]
    outcome: Annotated[str, about("found, or why not, such as not_found, other_content or timed_out.")]
    asked: Annotated[Few[str], about("The addresses that were asked.")]
    expected: Annotated[str, about("What the check looks for.")]
    found: Annotated[Few[str], about("What the check found instead: at most 5 texts.")]
    advice: Annotated[str, about("What to do; empty if the token was found.")]


class OtherClaim(Member, frozen=True, kw_only=True):
    """A contested claim by another account to a website of this account."""

    claim_id: Annotated[NumericId, about("The claim.")]
    method: Annotated[str, about("The place of its proof: dns, file or meta.")]
    token: Annotated[str, about("Its token: if you find it on your website and do not know it, delete it.")]
    since: Annotated[Moment, about("When the claim became contested.")]


class PausedSchedule(Member, frozen=True, kw_only=True):
    """A schedule of scans that paused itself; set it again to resume."""

    reason: Annotated[str, about("Why the last scan had no result, such as blocked.")]
    set_at: Annotated[Moment, about("When the schedule was set; after that it pauses at most once.")]


class DifferentPage(Member, frozen=True, kw_only=True):
    """A home page that looks different from the page that scans know."""

    job_id: Annotated[NumericId, about("The newest scan that saw it.")]
    since: Annotated[Moment, about("When a scan first saw a different page.")]


class WebsiteClaim(Member, frozen=True, kw_only=True):
    """A claim of the account to a website, with the token to publish and the results of the checks."""

    claim_id: Annotated[NumericId, about("The claim, for the other calls.")]
    host: Annotated[HostName, about("The website.")]
    state: Annotated[str, about("pending, contested, verified, failing or ended.")]
    method: Annotated[str | None, about("The place of the proof: file, meta, dns or manual.")]
    strength: Annotated[str | None, about("The strength of the proof: https, http, dns or manual.")]
    token: Annotated[str, about("The token to publish; not secret, because only this account can use it.")]
    instructions: ProofInstructions
    checks: Few[ClaimCheck]
    created_at: Annotated[Moment, about("When it was made.")]
    next_check_at: Annotated[Moment | None, about("The next automatic check; null: no check is due.")]
    check_allowed_at: Annotated[Moment, about("The earliest time for a check by hand.")]
    expires_at: Annotated[Moment | None, about("When a claim without proof ends.")]
    verified_at: Annotated[Moment | None, about("When the proof was found; null: not yet.")]
    lapses_at: Annotated[
        Moment | None,
        about("When the link ends unless the proof comes back; null while a later check could not ask."),
    ]
    ended_at: Annotated[Moment | None, about("When the claim ended.")]
    ended_reason: Annotated[
        str | None,
        about(
            "withdrawn, expired (no proof for 30 days), refused (by the operator), lapsed (the proof was "
            "missing for 14 days) or taken_over (another account has proven the website)."
        ),
    ]
    link_id: Annotated[Uuid | None, about("The link to the website, once it is verified.")]
    link_problem: Annotated[
        str | None, about("Why a verified website is not linked: no_room, archived or other.")
    ]
    others: Annotated[
        Few[OtherClaim], about("Contested claims by other accounts, if this account holds the website.")
    ]
    paused_schedule: Annotated[PausedSchedule | None, about("The schedule of scans, if it paused itself.")]
    different_page: Annotated[
        DifferentPage | None,
        about("Set while scans do not count, because the home page looks different; null: they count."),
    ]


class ClaimResponse(Member, frozen=True, kw_only=True):
    """One claim."""

    ok: Ok
    claim: WebsiteClaim


class ClaimsResponse(Member, frozen=True, kw_only=True):
    """The claims of the account, sorted by host."""

    ok: Ok
    claims: Some[WebsiteClaim]
    total: Annotated[Count, about("The number of claims on all pages.")]


_CLAIM_CODES = ("unknown_claim", "wrong_state")
CLAIM = Route(
    path="/v1/site/claim",
    name="siteClaim",
    summary="Claim a website",
    description="An addition to the specification: returns a token and where to publish it. A second call "
    "for the same host returns the same claim. A claim waits 30 days for its proof, and is checked "
    "automatically.",
    request=ClaimRequest,
    response=ClaimResponse,
    own_codes=("claim_refused",),
    absent_codes=NO_LINK,
    group=OWNERSHIP,
    changes=True,
)
CLAIM_CHECK = Route(
    path="/v1/site/claim/check",
    name="siteClaimCheck",
    summary="Check a claim now",
    description="An addition to the specification: looks for the token, for up to 12 seconds. A proof "
    "verifies the website and links it; use link_id in calls about the website. If another account has the "
    "website, the check looks for that account's token as well, and this account takes over if it has been "
    "missing for a day.",
    request=ClaimCheckRequest,
    response=ClaimResponse,
    own_codes=(*_CLAIM_CODES, "check_too_soon"),
    absent_codes=NO_LINK,
    group=OWNERSHIP,
    changes=True,
    seconds=30,  # 12 for the website, the rest for names and queues
)
CLAIM_WITHDRAW = Route(
    path="/v1/site/claim/withdraw",
    name="siteClaimWithdraw",
    summary="Withdraw a claim",
    description="An addition to the specification: ends the claim and revokes its link. Repeating the call "
    "is safe.",
    request=ClaimWithdrawRequest,
    response=ClaimResponse,
    own_codes=_CLAIM_CODES,
    absent_codes=(*NO_LINK, "inactive_entitlement"),
    group=OWNERSHIP,
    changes=True,
)
CLAIMS = Route(
    path="/v1/site/claims",
    name="siteClaims",
    summary="The claims of the account",
    description="An addition to the specification: lists open claims by host. If the last claim to a host "
    "ended without being withdrawn, it is listed for 30 days. claim_id finds any claim.",
    request=ClaimsRequest,
    response=ClaimsResponse,
    absent_codes=(*NO_LINK, "inactive_entitlement"),
    group=OWNERSHIP,
)
ROUTES: tuple[Route[Any, Any], ...] = (CLAIM, CLAIM_CHECK, CLAIM_WITHDRAW, CLAIMS)
