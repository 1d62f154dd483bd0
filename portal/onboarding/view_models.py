"""View models for adding a website: claims in words, places for the token, and results of checks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.models import Account, HelperLink
from portal.onboarding.actions import LINKED
from portal.texts import labels
from signed_api.claims import ClaimCheck, ProofRecord, WebsiteClaim

STATES = {
    "pending": gettext_lazy("Waiting for the proof"),
    "contested": gettext_lazy("Contested"),
    "verified": gettext_lazy("Verified"),
    "failing": gettext_lazy("Proof missing"),
    # Why a claim has ended.
    "lapsed": gettext_lazy("Removed"),
    "taken_over": gettext_lazy("Taken over"),
    "expired": gettext_lazy("Expired"),
    "refused": gettext_lazy("Refused"),
    "withdrawn": gettext_lazy("Removed"),
}
AWAITED = ("pending", "contested")
TONES = {
    "contested": "partial",
    "verified": "ok",
    "failing": "failed",
    "lapsed": "failed",
    "taken_over": "failed",
}
ENDED = {
    "lapsed": gettext_lazy(
        "We could not find the token for 14 days, so the website was removed. Publish it again, or repair "
        "what does not answer, and add the website again: you get it back unless another organization "
        "owns it by now."
    ),
    "taken_over": labels.NOT_LINKED["taken_over"],
    "expired": gettext_lazy("We did not find the token for 30 days. Add the website again to go on."),
    "refused": gettext_lazy(
        "This website belongs to another organization; our team has confirmed it. If the website is "
        "yours, contact support."
    ),
}
# What to do for each known outcome of a check; for others, the service's advice is shown.
OUTCOMES = {
    "found": gettext_lazy("The token is there."),
    "not_found": gettext_lazy("There is no file at this address. Upload it with exactly this name."),
    "status": gettext_lazy("The website answers with an error. Repair it, and check again."),
    "html_instead": gettext_lazy(
        "A page is there instead of the file. Serve files below /.well-known/ before any rule that rewrites "
        "addresses."
    ),
    "other_content": gettext_lazy("The file has other content. One of its lines must be exactly the token."),
    "tag_outside_head": gettext_lazy("The tag is on the page, but not in its head. Move it into <head>."),
    "redirected_away": gettext_lazy(
        "The website redirects to another domain or port. Let it answer without a redirect, or add the "
        "website that it leads to."
    ),
    "tls_invalid": gettext_lazy(
        "There is no https with a valid certificate for this name, and the token was not found over http "
        "either. Publish it there, correct the certificate, or use a DNS record."
    ),
    "blocked": gettext_lazy(
        "A firewall of the website blocked our check. Allow the user agent ThreatDashboard/1."
    ),
    "page_changed": gettext_lazy(
        "The home page looks different from the one that our scans know, so this check does not count. "
        "Allow the user agent ThreatDashboard/1, or confirm the page below Scans."
    ),
    "stale_cache": gettext_lazy("A cache answered with an older copy. Empty it, or wait until it expires."),
    "no_address": gettext_lazy("The name has no address. Check its A and AAAA records."),
    "servers_silent": gettext_lazy("The name servers of the domain do not answer. Check again later."),
    "private_address": gettext_lazy(
        "The name leads to a private address. Check all of its A and AAAA records."
    ),
    "connect_failed": gettext_lazy(
        "We could not connect. Check that the website answers from the internet, on port 443 or 80."
    ),
    "addresses_differ": gettext_lazy(
        "Only the server with the IPv4 address has the token. Publish it on all servers, or correct the AAAA "
        "record."
    ),
    "unreadable": gettext_lazy(
        "The file is compressed in a way that we cannot read. Send it as it is to requests with "
        "Accept-Encoding: identity."
    ),
    "timed_out": gettext_lazy("The website did not answer in time. Check again later."),
}
# Why a verified website is not linked.
LINK_PROBLEMS = {
    "no_room": gettext_lazy(
        "Your plan has no room for another website, or a payment is missing: change or pay the plan, or "
        "remove another website. Then check again."
    ),
    "archived": gettext_lazy("It is archived: contact support. Then check again."),
}
METHODS = {
    "dns": gettext_lazy("DNS record"),
    "file": gettext_lazy("File on the website"),
    "meta": gettext_lazy("Tag on the home page"),
    "manual": gettext_lazy("Confirmed by our team"),
}
OF_DNS = {
    "name_missing": gettext_lazy(
        "There is no record with this name yet. Panels that add the domain themselves want the short name."
    ),
    "no_txt": gettext_lazy("The name exists, but has no TXT record. Add one with this value."),
    "other_value": gettext_lazy(
        "There are TXT records with other values. Add one more with exactly this value."
    ),
    "partly_published": gettext_lazy(
        "Only some name servers of the domain have the record. Wait until all have it, or correct the others."
    ),
    "wrong_place": gettext_lazy("The record is there under another name. Move it to exactly this name."),
    "wildcard": gettext_lazy(
        "A wildcard record answers, which proves nothing. Add a TXT record with exactly this name."
    ),
    "dnssec_bogus": gettext_lazy(
        "The DNSSEC signatures of the domain are wrong. Correct or remove them, then check again."
    ),
    "private_address": gettext_lazy("A name server of the domain has a private address. Correct it."),
}
OF_META = {
    "not_found": gettext_lazy(
        "The home page does not have this tag. Add it to <head>, and publish the page."
    ),
    "other_content": gettext_lazy("The tag has another value. Use exactly this one."),
    "unreadable": gettext_lazy(
        "We could not read the head of the home page to its end. Put the tag at its beginning, and send the "
        "page uncompressed to requests with Accept-Encoding: identity."
    ),
}
OF_METHOD = {"meta": OF_META, "dns": OF_DNS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The last check of a place, in words; ``found`` is what the check found instead of ``expected``."""

    at: datetime
    text: str
    is_found: bool
    expected: str
    found: tuple[str, ...]
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyField:
    """A text to copy; ``id`` is the HTML id of its field."""

    id: str
    label: str
    value: str
    button: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place for the token, and its last check."""

    key: str
    title: str
    how: str
    fields: tuple[CopyField, ...]
    look: Look | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """Another account's proof of the website."""

    method: str
    since: datetime | None
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow:
    """A claim in a list."""

    host: str
    url: str
    state: str
    tone: str
    text: str
    needs_action: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPage:
    """The page of a claim; ``text`` explains its state, and ``site_url`` is the page of a linked website.

    ``no_dns_text`` says why a DNS record is not among the places. While a proof is awaited, ``poll_url``
    shows whether the state has changed. After the claim has ended, ``add_url`` is the form to add the website
    again.
    """

    host: str
    account: str
    state: str
    tone: str
    text: str
    site_url: str
    places: tuple[Place, ...]
    no_dns_text: str
    next_check_at: datetime | None
    expires_at: datetime | None
    check_url: str
    withdraw_url: str
    add_url: str
    others: tuple[Other, ...]
    needs_token: bool
    poll_url: str
    poll_seconds: int = 5


def claim_url(account: Account, claim: WebsiteClaim) -> str:
    """Return the address of the page of a claim."""
    return reverse("portal:claim", args=[account.pk, int(claim.claim_id)])


def not_linked(claim: WebsiteClaim, *, has_plan: bool = True) -> str:
    """Return why a verified website is not linked; without a plan, its limits do not matter."""
    if not claim.link_problem:
        return str(labels.NOT_LINKED["by_operator"])
    if claim.link_problem == "no_room" and not has_plan:
        return _("The website is verified, but not active in your organization.")
    text = LINK_PROBLEMS.get(claim.link_problem, gettext_lazy("Contact support."))
    return " ".join((_("The website is verified, but not active in your organization."), str(text)))


def claim_rows(account: Account, claims: Iterable[WebsiteClaim]) -> tuple[ClaimRow, ...]:
    """Return the claims; claims that need an action come first."""
    rows = [
        ClaimRow(
            host=claim.host,
            url=claim_url(account, claim),
            state=labels.label(STATES, claim.ended_reason or claim.state),
            tone=_tone(claim),
            text=_line_in_list(claim),
            needs_action=claim.state != "verified" or claim.link_id is None,
        )
        for claim in claims
    ]
    return tuple(sorted(rows, key=lambda row: not row.needs_action))


def claim_page(
    account: Account, claim: WebsiteClaim, *, site_url: str, is_owner: bool, has_plan: bool = True
) -> ClaimPage:
    """Return the page of a claim; ``site_url`` is the dashboard; only owners can withdraw the claim.

    ``has_plan``: the account has a usable plan.
    """
    arguments = [account.pk, int(claim.claim_id)]
    places = _places(claim)
    return ClaimPage(
        host=claim.host,
        account=str(account),
        state=labels.label(STATES, claim.ended_reason or claim.state),
        tone=_tone(claim),
        text=_text(claim, has_plan=has_plan),
        site_url=site_url,
        places=places,
        no_dns_text=_no_dns_text(claim.host) if places and claim.instructions.dns is None else "",
        next_check_at=claim.next_check_at,
        expires_at=claim.expires_at,
        check_url=reverse("portal:check_claim", args=arguments),
        needs_token=claim.state not in LINKED or claim.state == "failing",
        poll_url=f"{claim_url(account, claim)}?state={claim.state}" if claim.state in AWAITED else "",
        withdraw_url=reverse("portal:withdraw_claim", args=arguments)
        if is_owner and claim.state != "ended"
        else "",
        add_url=reverse("portal:add_website", query={"account": account.ref, "host": claim.host})
        if claim.state == "ended"
        else "",
        others=tuple(
            Other(method=labels.label(METHODS, other.method), since=other.since, token=other.token)
            for other in claim.others
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperOffer:
    """The helper's link of a claim; while ``link`` is empty, ``create_url`` creates it."""

    link: str
    expires_at: datetime | None
    create_url: str
    end_url: str


def helper_offer(account: Account, claim: WebsiteClaim, link: HelperLink | None) -> HelperOffer:
    """Return the offer of a helper's link for a claim."""
    arguments = [account.pk, int(claim.claim_id)]
    path = reverse("portal:help_prove", args=[link.token]) if link else ""
    return HelperOffer(
        link=path,
        expires_at=link.expires_at if link else None,
        create_url=reverse("portal:create_helper_link", args=arguments),
        end_url=reverse("portal:end_helper_link", args=arguments),
    )


def _tone(claim: WebsiteClaim) -> str:
    is_incomplete = claim.state == "verified" and (claim.link_id is None or claim.others)
    return "partial" if is_incomplete else TONES.get(claim.ended_reason or claim.state, "")


def _line_in_list(claim: WebsiteClaim) -> str:
    """Return one line for the list of claims; empty if it needs no action."""
    match claim.ended_reason or claim.state:
        case "pending":
            return _("Publish the token, and check.")
        case "contested":
            return _("Another organization owns this website.")
        case "failing":
            return _ends_on(claim)
        case "lapsed":
            return _("Publish the token again.")
        case "taken_over" | "refused":
            return _("Another organization owns this website.")
        case "verified" if claim.link_id is None:
            return _("Not active in your organization.")
        case "verified" if claim.others:
            return _("Another organization is verifying this website.")
    return ""


def _text(claim: WebsiteClaim, *, has_plan: bool) -> str:
    """Explain the state of the claim, and what to do."""
    match claim.state:
        case "pending":
            return _("Publish the token in one of these places, then check. Anyone may see it.")
        case "contested":
            return _(
                "We found the token, but another organization already owns this website. Our team decides "
                "whose it is. Leave the token in its place."
            )
        case "failing":
            return _ends_on(claim)
        case "verified" if claim.link_id is None:
            return not_linked(claim, has_plan=has_plan)
        case "verified" if claim.method == "manual":
            return _("This website is yours: our team has confirmed it.")
        case "verified" if claim.method == "dns" and _lacks_record(claim):
            return _(
                "This website is yours, but our last check did not find its DNS record. Deep scans and names "
                "below this website need it: publish it again."
            )
        case "verified":
            return _("This website is yours. Keep the token in its place: we check it every week.")
    return str(ENDED.get(claim.ended_reason or "", labels.NOT_LINKED["claim_ended"]))


def _lacks_record(claim: WebsiteClaim) -> bool:
    """Return whether name servers answered without the record; silent servers may have it."""
    absent = {"name_missing", "no_txt", "other_value", "partly_published", "wrong_place", "wildcard"}
    return any(check.method == "dns" and check.outcome in absent for check in claim.checks)


def _ends_on(claim: WebsiteClaim) -> str:
    if claim.lapses_at is None:
        return _("Publish the token again, or repair what does not answer. Otherwise the website is removed.")
    return _(
        "Publish the token again, or repair what does not answer. Otherwise the website is removed on "
        "%(date)s."
    ) % {"date": labels.day(claim.lapses_at)}


def _places(claim: WebsiteClaim) -> tuple[Place, ...]:
    """Return the places for the token; after our team's confirmation, only DNS, which deep scans need."""
    if claim.state == "ended":
        return ()
    looks = {check.method: _look(claim, check) for check in claim.checks}
    record, file = claim.instructions.dns, claim.instructions.file
    in_dns = (_in_dns(claim.host, record, looks.get("dns")),) if record else ()
    if claim.method == "manual" and claim.state in LINKED:
        how = _(
            "Deep scans need a proof by DNS. Add a TXT record with this name and value, and leave it there: "
            "once we find it, your website depends on it."
        )
        title = _("A DNS record, for deep scans")
        return tuple(replace(place, title=title, how=how) for place in in_dns)
    places = (
        Place(
            key="file",
            title=_("A file on the website"),
            how=_("Create a text file with this content, and upload it so that it has this address."),
            fields=(
                CopyField(
                    id="file-url", label=_("Address of the file"), value=file.url, button=_("Copy address")
                ),
                CopyField(
                    id="file-content",
                    label=_("Content of the file"),
                    value=file.content,
                    button=_("Copy content"),
                ),
            ),
            look=looks.get("file"),
        ),
        Place(
            key="meta",
            title=_("A tag on the home page"),
            how=_("Add this tag to the head of the home page."),
            fields=(
                CopyField(
                    id="meta-tag",
                    label=_("Tag for the home page"),
                    value=claim.instructions.meta,
                    button=_("Copy tag"),
                ),
            ),
            look=looks.get("meta"),
        ),
    )
    return (*places, *in_dns)


def _no_dns_text(host: str) -> str:
    """Return why a DNS record cannot prove the website."""
    if host.endswith(".localhost"):
        return _(
            "A DNS record is not possible: names that end in .localhost point to the local computer and are "
            "not in public DNS."
        )
    if "." not in host or ":" in host or host.rpartition(".")[2].isdecimal():
        return _(
            "A DNS record is not possible: only full domain names, such as www.example.com, have records in "
            "public DNS."
        )
    return _("A DNS record is not possible for this website.")


def _in_dns(host: str, record: ProofRecord, look: Look | None) -> Place:
    """Return the place in DNS, with the short name for panels that add the domain themselves."""
    names = [
        CopyField(id="dns-name", label=_("Name of the record"), value=record.name, button=_("Copy name")),
        CopyField(
            id="dns-short",
            label=_("Short name, if your panel adds the domain"),
            value=record.relative_name,
            button=_("Copy short name"),
        ),
    ]
    return Place(
        key="dns",
        title=_("A DNS record"),
        how=_("Add a TXT record with this name and value. It also proves the names below %(host)s.")
        % {"host": host},
        fields=(
            *names,
            CopyField(
                id="dns-value", label=_("Value of the record"), value=record.value, button=_("Copy value")
            ),
        ),
        look=look,
    )


def _look(claim: WebsiteClaim, check: ClaimCheck) -> Look:
    is_found = check.outcome == "found"
    return Look(
        at=check.at,
        text=_outcome(claim, check),
        is_found=is_found,
        expected=check.expected,
        found=() if is_found else _cut(check.found),
        asked=_cut(check.asked),
    )


def _outcome(claim: WebsiteClaim, check: ClaimCheck) -> str:
    """Return the result of a check in the portal's words; for an unknown outcome, the service's advice."""
    is_over_http = claim.method == check.method and claim.strength == "http"
    if check.outcome == "found" and is_over_http:
        return _("The token is there, but without a valid certificate. Set up https.")
    if check.outcome == "tls_invalid" and claim.instructions.dns is None:
        return _(
            "There is no https with a valid certificate for this name, and the token was not found over http "
            "either. Publish it there, or correct the certificate."
        )
    words = OUTCOMES | OF_METHOD.get(check.method, {})
    known = words.get(check.outcome)
    return str(known) if known else check.advice[:500] or _("The token was not found.")


def _cut(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the first texts, and their beginnings: servers on the internet wrote them."""
    return tuple(text[:300] for text in texts[:5])
