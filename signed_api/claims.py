"""Claims: an account proves that a website is its own."""

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
    """A request to look for the token of a claim now."""

    claim_id: ClaimId
    method: Annotated[
        str,
        one_of(PROOFS),
        about(
            "Look in this place and in that of the last proof; such a check counts only if it finds the "
            "token. The default is everywhere."
        ),
    ] = ""


class ClaimWithdrawRequest(AccountRequest, frozen=True, kw_only=True):
    """A request to withdraw a claim."""

    claim_id: ClaimId
    reason: Reason


class ClaimsRequest(AccountRequest, frozen=True, kw_only=True):
    """A request for the claims of the account that signs it."""

    host: Annotated[str, any_text("host"), about("Only the claim to this host.")] = ""
    claim_id: Annotated[str, _CLAIM_ID, about("Only this claim, also if it ended long ago.")] = ""
    page: PageField = 1
    page_size: PageSize = limits.DEFAULT_PAGE_SIZE


class ProofFile(Member, frozen=True, kw_only=True):
    """A file to publish on the website."""

    url: Annotated[str, about("The address of the file.")]
    content: Annotated[str, about("One line of the file; other lines may follow.")]


class ProofRecord(Member, frozen=True, kw_only=True):
    """A TXT record to publish in DNS. It also proves the names below the host."""

    name: Annotated[str, about("The name of the record.")]
    relative_name: Annotated[str, about("The name for panels that add the domain themselves.")]
    value: Annotated[str, about("The value of the record.")]


class ProofInstructions(Member, frozen=True, kw_only=True):
    """Places for the token; one of them is enough."""

    dns: Annotated[ProofRecord | None, about("null: the host is not a name in DNS.")]
    file: ProofFile
    meta: Annotated[str, about("A tag for the head of the home page.")]


class ClaimCheck(Member, frozen=True, kw_only=True):
    """The last look in one place."""

    method: Annotated[str, about("dns, file or meta.")]
    at: Annotated[Moment, about("When it was made.")]
    outcome: Annotated[str, about("found, or why not, such as not_found, other_content or timed_out.")]
    asked: Annotated[Few[str], about("The addresses that were asked.")]
    expected: Annotated[str, about("What a check looks for.")]
    found: Annotated[Few[str], about("What was there instead: at most 5 texts.")]
    advice: Annotated[str, about("What to do; empty if it was found.")]


class OtherClaim(Member, frozen=True, kw_only=True):
    """Another account's contested claim to a website of this account: its token can be looked for."""

    claim_id: Annotated[NumericId, about("The claim.")]
    method: Annotated[str, about("The place of its proof: dns, file or meta.")]
    token: Annotated[str, about("Look for it, and delete it if you do not know it.")]
    since: Annotated[Moment, about("When the claim became contested.")]


class PausedSchedule(Member, frozen=True, kw_only=True):
    """A schedule of scans that paused itself: it stays so until it is set again."""

    reason: Annotated[str, about("Why the last scan had no result, such as blocked.")]
    set_at: Annotated[Moment, about("When the schedule was set; it pauses once at most.")]


class DifferentPage(Member, frozen=True, kw_only=True):
    """A home page that looks different from the one that scans know."""

    job_id: Annotated[NumericId, about("The newest scan that met it.")]
    since: Annotated[Moment, about("When a scan met one first.")]


class WebsiteClaim(Member, frozen=True, kw_only=True):
    """A claim of the account to a website: the token to publish, and what the checks found."""

    claim_id: Annotated[NumericId, about("The claim, for the other calls.")]
    host: Annotated[HostName, about("The website.")]
    state: Annotated[str, about("pending, contested, verified, failing or ended.")]
    method: Annotated[str | None, about("The place of the proof: file, meta, dns or manual.")]
    strength: Annotated[str | None, about("https, http, dns or manual.")]
    token: Annotated[str, about("Public: for this account and host only.")]
    instructions: ProofInstructions
    checks: Few[ClaimCheck]
    created_at: Annotated[Moment, about("When it was made.")]
    next_check_at: Annotated[Moment | None, about("The next check by itself; null: none.")]
    check_allowed_at: Annotated[Moment, about("From when a check by hand is possible.")]
    expires_at: Annotated[Moment | None, about("The end of a claim that waits for its proof.")]
    verified_at: Annotated[Moment | None, about("When the proof was found; null: not yet.")]
    lapses_at: Annotated[
        Moment | None,
        about("When the link ends unless the proof is back; null while a later check cannot ask."),
    ]
    ended_at: Annotated[Moment | None, about("When the claim ended.")]
    ended_reason: Annotated[
        str | None,
        about(
            "withdrawn, expired (no proof for 30 days), refused (by the operator), lapsed (the proof was "
            "missing for 14 days) or taken_over (by an account that has proven the website)."
        ),
    ]
    link_id: Annotated[Uuid | None, about("The link to the website, once it is verified.")]
    link_problem: Annotated[
        str | None, about("Why a verified website is not linked: no_room, archived or other.")
    ]
    others: Annotated[
        Few[OtherClaim], about("Contested claims of others, if this account holds the website.")
    ]
    paused_schedule: Annotated[PausedSchedule | None, about("The schedule of scans, if it paused itself.")]
    different_page: Annotated[
        DifferentPage | None,
        about("Where scans do not count, because the page looks different; null: they do."),
    ]


class ClaimResponse(Member, frozen=True, kw_only=True):
    """A claim."""

    ok: Ok
    claim: WebsiteClaim


class ClaimsResponse(Member, frozen=True, kw_only=True):
    """Claims of the account, by host."""

    ok: Ok
    claims: Some[WebsiteClaim]
    total: Annotated[Count, about("The claims on all pages.")]


_OF_CLAIMS = ("unknown_claim", "wrong_state")
CLAIM = Route(
    path="/v1/site/claim",
    name="siteClaim",
    summary="Claim a website",
    description="An addition to the specification: gives a token and its places. The same host again is "
    "the same claim. It waits 30 days for its proof, and is checked by itself until then.",
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
    "verifies the website and links it: link_id is for the calls about the website. If another account has "
    "the website, its token is looked for as well: this account takes over if it has been missing for a day.",
    request=ClaimCheckRequest,
    response=ClaimResponse,
    own_codes=(*_OF_CLAIMS, "check_too_soon"),
    absent_codes=NO_LINK,
    group=OWNERSHIP,
    changes=True,
    seconds=30,  # 12 for the website, the rest for names and queues
)
CLAIM_WITHDRAW = Route(
    path="/v1/site/claim/withdraw",
    name="siteClaimWithdraw",
    summary="Withdraw a claim",
    description="An addition to the specification: ends the claim and revokes its link. A repetition "
    "changes nothing.",
    request=ClaimWithdrawRequest,
    response=ClaimResponse,
    own_codes=_OF_CLAIMS,
    absent_codes=(*NO_LINK, "inactive_entitlement"),
    group=OWNERSHIP,
    changes=True,
)
CLAIMS = Route(
    path="/v1/site/claims",
    name="siteClaims",
    summary="The claims of the account",
    description="An addition to the specification: open claims by host, and for 30 days ended ones that "
    "were not withdrawn and are the last to their host; with claim_id, that claim.",
    request=ClaimsRequest,
    response=ClaimsResponse,
    absent_codes=(*NO_LINK, "inactive_entitlement"),
    group=OWNERSHIP,
)
ROUTES: tuple[Route[Any, Any], ...] = (CLAIM, CLAIM_CHECK, CLAIM_WITHDRAW, CLAIMS)
