"""Routes about what scans saw: certificates, the registered domain and scripts, and their last days."""

from typing import Annotated, Any

from signed_api import limits
from signed_api.answering import By
from signed_api.routes import NO_LINK, Route
from signed_api.values import (
    AccountRequest,
    Count,
    Few,
    Member,
    Moment,
    Ok,
    PageField,
    PageSize,
    SiteRequest,
    Some,
    about,
    matching,
    one_of,
    required,
    short_text,
    whole_number,
)

PIN, UNPIN, ACCEPT_HOST = SCRIPT_ACTS = ("pin", "unpin", "accept_host")
CERTIFICATE, DOMAIN = "certificate", "domain"


class InventoryRequest(SiteRequest, frozen=True, kw_only=True):
    """A request for what scans of a website saw."""


class ScriptRequest(SiteRequest, frozen=True, kw_only=True):
    """A request to pin a script of the home page, or to expect its host."""

    url: Annotated[
        str, required(short_text(limits.MAX_SCRIPT_URL)), about("The url of a script, exactly as answered.")
    ] = ""
    act: Annotated[
        str,
        required(one_of(SCRIPT_ACTS)),
        about(
            "pin: other content of this script is a finding. unpin: no longer. accept_host: scripts of its "
            "host are expected."
        ),
    ] = ""
    sha256: Annotated[
        str,
        matching("[0-9a-f]{64}", "must be the sha256 of the script, exactly as answered"),
        about("pin: the sha256 that you saw; refused if a scan has read other content since."),
    ] = ""
    by: By = ""


class LastDaysRequest(AccountRequest, frozen=True, kw_only=True):
    """A request for the last days of certificates and domains of all websites of the account."""

    within_days: Annotated[
        int,
        whole_number(at_most=limits.MAX_DAYS_AHEAD),
        about(
            "Only what ends in at most so many days; what has ended is included. The default is "
            f"{limits.MAX_DAYS_AHEAD:,}."
        ),
    ] = limits.MAX_DAYS_AHEAD
    page: PageField = 1
    page_size: PageSize = limits.DEFAULT_PAGE_SIZE


class ChainCertificate(Member, frozen=True, kw_only=True):
    """A certificate of an authority, as the server sent it."""

    subject: Annotated[str, about("Whose certificate it is.")]
    issuer: Annotated[str, about("Who signed it.")]
    valid_until: Annotated[Moment, about("When it ends.")]


class Certificate(Member, frozen=True, kw_only=True):
    """A certificate that a scan saw on the way to the home page."""

    host: Annotated[str, about("The host that showed it.")]
    port: Annotated[Count, about("The port.")]
    fingerprint: Annotated[str, about("SHA-256 of the certificate in hexadecimal.")]
    subject: Annotated[str, about("The name of its owner.")]
    issuer: Annotated[str, about("The name of the authority that issued it.")]
    names: Annotated[
        Some[str], about(f"The host names for which it is valid, at most {limits.MAX_CERTIFICATE_NAMES}.")
    ]
    key: Annotated[str, about("Kind and size of its key, such as RSA, 2048 bits.")]
    signature: Annotated[str, about("The hash algorithm of its signature, such as sha256.")]
    valid_from: Annotated[Moment, about("When it begins.")]
    valid_until: Annotated[Moment, about("When it ends.")]
    chain: Annotated[
        Few[ChainCertificate], about("The authorities' certificates, from its issuer on; empty: not read.")
    ]
    problem: Annotated[
        str, about("expired, not_yet_valid, other_name or not_trusted; empty: browsers accept it.")
    ]
    current: Annotated[bool, about("Whether its host showed it in the last scan that reached this host.")]
    first_seen_at: Annotated[Moment, about("When a scan first saw it.")]
    seen_at: Annotated[Moment, about("When a scan last saw it.")]


class RegisteredDomain(Member, frozen=True, kw_only=True):
    """The domain of the website at its registry."""

    name: Annotated[str, about("The registrable domain, such as example.com.")]
    valid_until: Annotated[Moment | None, about("When its registration ends; null: not known.")]
    registrar: Annotated[str, about("The registrar; empty: not known.")]
    reason: Annotated[
        str,
        about("Why the last scan could not read it, such as no_server or failed; empty: it could."),
    ]
    explanation: Annotated[str, about("The reason in words; empty without a reason.")]
    read_at: Annotated[
        Moment, about("When valid_until was read; without one, when a scan last asked for it.")
    ]


class Library(Member, frozen=True, kw_only=True):
    """A JavaScript library."""

    name: Annotated[str, about("Its name, such as jquery.")]
    version: Annotated[str, about("Its version.")]


class Script(Member, frozen=True, kw_only=True):
    """A script that a scan saw on the home page."""

    url: Annotated[str, about("Its address.")]
    host: Annotated[str, about("The host of its address.")]
    own: Annotated[bool, about("Whether its host belongs to the domain of the website.")]
    sha256: Annotated[str | None, about("SHA-256 of its content, last read; null: never read.")]
    bytes: Annotated[Count | None, about("Its size; null: not read.")]
    integrity: Annotated[bool, about("Whether the page names its hash (subresource integrity).")]
    libraries: Annotated[Few[Library], about("Libraries in it that scans recognise.")]
    pinned: Annotated[bool, about("Whether other content of it is a finding.")]
    pinned_sha256: Annotated[str | None, about("The content that was pinned; null: not pinned.")]
    new: Annotated[bool, about("Whether its host is of others and not expected: nobody has accepted it.")]
    current: Annotated[bool, about("Whether the page had it when its scripts were last read.")]
    first_seen_at: Annotated[Moment, about("When a scan first saw it.")]
    seen_at: Annotated[Moment, about("When a scan last saw it.")]
    changed_at: Annotated[Moment | None, about("When a scan last read other content; null: never.")]


class InventoryResponse(Member, frozen=True, kw_only=True):
    """What scans of the website saw; reading it scans nothing."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    certificates: Annotated[Some[Certificate], about("Current ones first, then by their last day.")]
    domain: Annotated[RegisteredDomain | None, about("Its domain; null: no scan has asked for it.")]
    scripts: Annotated[Some[Script], about("Current ones first, then by address.")]
    scripts_at: Annotated[Moment | None, about("The last complete inventory of scripts; null: none.")]
    page: Annotated[str, about("The address of the page with these scripts; empty: none was read.")]


class ScriptResponse(Member, frozen=True, kw_only=True):
    """The script as it is now."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    script: Script


class LastDay(Member, frozen=True, kw_only=True):
    """The last day of a current certificate or of a domain."""

    host: Annotated[str, about("The website.")]
    kind: Annotated[str, about("certificate or domain.")]
    name: Annotated[str, about("The host of the certificate, or the domain.")]
    port: Annotated[Count | None, about("The port of the certificate; null for a domain.")]
    issuer: Annotated[str, about("The authority, or the registrar; empty: not known.")]
    valid_from: Annotated[Moment | None, about("When the certificate begins; null for a domain.")]
    valid_until: Annotated[Moment, about("When it ends.")]
    fingerprint: Annotated[str, about("SHA-256 of the certificate; empty for a domain.")]
    seen_at: Annotated[Moment, about("When a scan last saw it; it may have been renewed since.")]


class LastDaysResponse(Member, frozen=True, kw_only=True):
    """Last days of the account's websites, soonest first."""

    ok: Ok
    items: Some[LastDay]
    total: Annotated[Count, about("The number of items on all pages.")]


INVENTORY = Route(
    path="/v1/site/inventory",
    name="siteInventory",
    summary="Certificates, domain and scripts of a linked website",
    description="An addition to the specification: what the service's own scans saw, each with the time when "
    "it was last seen.",
    request=InventoryRequest,
    response=InventoryResponse,
)
SCRIPT = Route(
    path="/v1/site/script",
    name="siteScript",
    summary="Pin a script, or accept its host",
    description="An addition to the specification: pins and accepted hosts belong to the website, as its "
    "findings do, and count for all accounts that have it. The next scan opens or closes findings. "
    "Repeating the call is safe.",
    request=ScriptRequest,
    response=ScriptResponse,
    own_codes=("unknown_script", "wrong_state"),
    changes=True,
)
LAST_DAYS = Route(
    path="/v1/account/last-days",
    name="accountLastDays",
    summary="The last days of certificates and domains of all websites",
    description="An addition to the specification: soonest first, of the account's linked websites. A "
    "website that is paused is left out. This call does not count towards the calls of a day.",
    request=LastDaysRequest,
    response=LastDaysResponse,
    absent_codes=NO_LINK,
    is_counted=False,
)
ROUTES: tuple[Route[Any, Any], ...] = (INVENTORY, SCRIPT, LAST_DAYS)
