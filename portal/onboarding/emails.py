"""E-mails to owners about the proofs of their websites: found, missing, ending, ended, contested.

Three are about something else: a paused schedule of scans, a page that looks different, and a website that an
owner removed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from foundation.addresses.hosts import readable_host
from portal.answers import service
from portal.emails.to_owners import Outcome, Words, for_each_account, send, send_now
from portal.models import Account
from portal.onboarding.actions import settle_all
from portal.onboarding.view_models import ENDED, claim_url, not_linked
from portal.texts import labels
from signed_api.claims import WebsiteClaim

RECENT = timedelta(days=2)  # send no e-mail about a proof that was found earlier
WARNING_DAYS = (2, 7)  # before the link ends, the last warning first


@dataclass(frozen=True, slots=True)
class Event:
    """A fact about a claim that owners should know; ``key`` is the same each time it is read."""

    kind: str
    claim: WebsiteClaim
    key: str
    at: datetime | None = None  # a time that the text names


def send_due(*, clock: Callable[[], datetime] = timezone.now) -> Outcome:
    """Read the claims of every account with an owner, and send the e-mails about them that are due."""
    outcome = Outcome()

    def send_to(account: Account) -> None:
        claims = service.get_claims(account)
        settle_all(account, claims)
        now = clock()
        for claim in claims:
            for event in events_of(claim, now):
                send(account, event.key, partial(compose, event, account), outcome, now)

    for_each_account(send_to, outcome)
    return outcome


def send_given_up(account: Account, claim: WebsiteClaim) -> None:
    """Notify all owners that one removed the website, that owner included: the session may be stolen."""
    send_now(account, f"given_up:{claim.claim_id}", lambda: _given_up_words(claim), without="")


def _given_up_words(claim: WebsiteClaim) -> Words:
    text = _(
        "An owner removed it: its share links do not work any more. The audit log says who did "
        "this, and when. If you did not expect this, remove this person, or if it was done in your name, "
        "change your password and sign out everywhere else. Then add the website again."
    )
    subject = _("%(host)s was removed") % {"host": readable_host(claim.host)}
    return Words(subject=subject, text=text, button=_("Open the audit log"), path=reverse("portal:activity"))


def events_of(claim: WebsiteClaim, now: datetime) -> Iterator[Event]:
    """Yield the events about the claim that owners should know now."""
    if claim.state == "verified" and claim.method != "manual" and claim.verified_at:
        if now - claim.verified_at < RECENT:
            yield _event("verified", claim, claim.verified_at)
    elif claim.state == "failing" and claim.lapses_at:
        yield _event("failing", claim, claim.lapses_at)
        days = (claim.lapses_at - now).days
        due = next((each for each in WARNING_DAYS if days < each), None)
        if due:
            yield _event(f"ends_{due}", claim, claim.lapses_at)
    elif claim.ended_reason in ("lapsed", "taken_over", "refused"):
        yield _event(claim.ended_reason, claim, claim.ended_at)
    for other in claim.others:
        yield Event("contested", claim, f"contested:{other.claim_id}")
    if claim.paused_schedule:
        yield Event(
            "paused", claim, f"paused:{claim.claim_id}:{claim.paused_schedule.set_at:%Y-%m-%dT%H:%M:%S}"
        )
    if claim.different_page:
        since = claim.different_page.since
        yield Event("page", claim, f"page:{claim.claim_id}:{since:%Y-%m-%dT%H:%M:%S}")


def _event(kind: str, claim: WebsiteClaim, at: datetime | None) -> Event:
    """Return an event with one key for each day of ``at``."""
    key = f"{kind}:{claim.claim_id}"
    return Event(kind, claim, f"{key}:{at:%Y-%m-%d}" if at else key, at)


def compose(event: Event, account: Account) -> Words:
    """Return the e-mail about an event, in the active language."""
    subject, text = _words(event)
    if event.kind == "page" and event.claim.different_page:
        arguments = [event.claim.host, int(event.claim.different_page.job_id)]
        path = reverse("portal:confirm_page", args=arguments, query={"account": account.ref})
        return Words(subject=subject, text=text, button=_("Compare the pages"), path=path)
    if event.kind == "paused":
        path = reverse("portal:scans", args=[event.claim.host], query={"account": account.ref})
        return Words(subject=subject, text=text, button=_("Open the scans"), path=path)
    return Words(subject=subject, text=text, button=_("Open the proof"), path=claim_url(account, event.claim))


def _words(event: Event) -> tuple[str, str]:
    """Return the subject and the text: what happened, and what to do."""
    values = {"host": readable_host(event.claim.host), "date": labels.day(event.at) if event.at else ""}
    match event.kind:
        case "verified":
            subject = _("%(host)s is verified")
            text = _("The token was found. Keep it in its place: we check it every week.")
            if event.claim.link_id is None:
                text += " " + not_linked(event.claim)
        case "failing":
            subject = _("%(host)s: the proof of ownership is missing")
            text = _("We looked several times, and could not find the token. The proof says what we saw.")
            text += " " + _(
                "Publish the token again, or repair what does not answer. Otherwise the website is "
                "removed on %(date)s."
            )
        case "lapsed":
            subject = _("%(host)s was removed")
            text = str(ENDED["lapsed"])
        case "contested":
            subject = _("Another organization is verifying %(host)s")
            text = _(
                "It has published a proof of its own, and our team decides. If you did not expect this, open "
                "your proof, which names the other token: delete it from your website and its DNS, and keep "
                "yours in its place."
            )
        case "taken_over":
            subject = _("Another organization now owns %(host)s")
            text = str(ENDED["taken_over"])
        case "refused":
            subject = _("%(host)s was not added")
            text = str(ENDED["refused"])
        case "paused":
            subject = _("%(host)s: scans by schedule are paused")
            text = _(
                "Three scans in a row had no result: the website refused them, or did not answer. The page "
                "of its scans says why. Save the schedule there to begin again."
            )
        case "page":
            subject = _("%(host)s: the page looks different")
            text = _(
                "The home page differs from the one that our scans know, as behind a protection or on a "
                "placeholder. Until it is clear, scans neither add nor fix findings. Compare the pages, and "
                "confirm the new one if it is yours."
            )
        case _:  # "ends_2" or "ends_7"
            days = int(event.kind.removeprefix("ends_"))
            subject = ngettext(
                "%(host)s will be removed in %(count)s day",
                "%(host)s will be removed in less than %(count)s days",
                days,
            )
            values["count"] = str(days)
            text = _(
                "We still cannot find the token. Publish it again, or repair what does not answer, before "
                "%(date)s."
            )
    return subject % values, text % values
