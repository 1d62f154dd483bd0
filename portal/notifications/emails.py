"""One e-mail: what it says, in the language of who reads it, and where its links lead."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.signing import Signer
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal import labels
from portal.forms import Address
from portal.gateway.messages import Change, NoteChange
from portal.models import Website
from portal.models.languages import reading_language
from portal.models.notifications import Subscription, Tiding
from portal.notifications.digest import News
from portal.view_models.sites import site_address

SHOWN_FINDINGS = 20
_signer = Signer(salt="portal.notifications")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A finding or a note, and its page."""

    text: str
    detail: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One website: findings worst first, how many more there are in words, and where all of them are."""

    host: str
    heading: str
    findings: tuple[Line, ...]
    more: str
    list_url: str
    notes: tuple[Line, ...]


def stop_token(membership_id: int) -> str:
    """What proves that an e-mail was received: it ends the e-mails, and nothing else."""
    return _signer.sign(str(membership_id))


def stopped_by(token: str) -> int:
    """Whose e-mails ``token`` ends; raises BadSignature."""
    return int(_signer.unsign(token))


def compose(mail: UUID, tidings: Sequence[Tiding]) -> EmailMultiAlternatives:
    """The e-mail of ``tidings``, all of one member; ``mail`` is its name for ever."""
    membership = tidings[0].membership
    subscription = Subscription.of(membership)
    language = subscription.language or reading_language(membership.user_id)
    with translation.override(language):
        sections = [_section(tiding) for tiding in tidings]
        stop_url = _absolute(reverse("portal:stop_news", args=[stop_token(membership.pk)]))
        context = {
            "sections": sections,
            "account": membership.account,
            "floor": labels.word(labels.SEVERITIES, subscription.floor),
            "news_url": _absolute(reverse("portal:news")),
            "stop_url": stop_url,
            "language": language,
        }
        message = EmailMultiAlternatives(
            subject=_subject(sections),
            body=render_to_string("portal/notifications/email.txt", context),
            to=[membership.user.email],
            headers=_headers(mail, stop_url),
        )
        message.attach_alternative(render_to_string("portal/notifications/email.html", context), "text/html")
    return message


def _headers(mail: UUID, stop_url: str) -> dict[str, str]:
    """One name however often it is sent; RFC 8058 lets a mail program end the e-mails with one click."""
    headers = {
        "Message-ID": f"<{mail}@{urlsplit(settings.PORTAL_BASE_URL).hostname}>",
        "Auto-Submitted": "auto-generated",
        "List-Unsubscribe": f"<{stop_url}>",
    }
    if stop_url.startswith("https:"):
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers


def _subject(sections: Sequence[Section]) -> str:
    if len(sections) == 1:
        return sections[0].heading
    count = len(sections)
    return ngettext("News of %(count)s website", "News of %(count)s websites", count) % {"count": count}


def list_path(address: Address, since: str, floor: str) -> str:
    """The page of all that is new since a cursor and bad enough."""
    fields = {"since": since, "floor": floor, "account": address.account}
    return f"{address.path}news/?{urlencode({name: value for name, value in fields.items() if value})}"


def _section(tiding: Tiding) -> Section:
    website, news = tiding.website, News.read(tiding.told)
    hosts = Website.objects.visible_to(tiding.membership.user).with_host(website.host)
    address = site_address(website, is_shared=hosts.count() > 1)
    shown = news.findings[:SHOWN_FINDINGS]
    floor = Subscription.of(tiding.membership).floor
    return Section(
        host=website.host,
        heading=_heading(website.host, news),
        findings=tuple(_finding(change, address) for change in shown),
        more=_more(news, len(shown)),
        list_url=_absolute(list_path(address, news.since, floor)) if news.findings else "",
        notes=tuple(note_line(note, address, base=settings.PORTAL_BASE_URL) for note in news.notes),
    )


def _heading(host: str, news: News) -> str:
    if not news.findings:
        count = len(news.notes)
        text = ngettext("%(host)s: %(count)s note to read", "%(host)s: %(count)s notes to read", count)
        return text % {"host": host, "count": localize(count)}
    worst = labels.word(labels.SEVERITIES, news.findings[0].severity)
    names = {"host": host, "count": localize(news.total), "worst": worst}
    if not news.is_exact:
        return _("%(host)s: %(count)s or more findings to look at, the worst: %(worst)s") % names
    text = ngettext(
        "%(host)s: %(count)s finding to look at: %(worst)s",
        "%(host)s: %(count)s findings to look at, the worst: %(worst)s",
        news.total,
    )
    return text % names


def _more(news: News, shown: int) -> str:
    left = news.total - shown
    if not left:
        return ""
    text = ngettext("And %(count)s more.", "And %(count)s more.", left)
    return (text if news.is_exact else _("And %(count)s more, or still more.")) % {"count": localize(left)}


def _finding(change: Change, address: Address) -> Line:
    severity = labels.word(labels.SEVERITIES, change.severity)
    text = _("%(severity)s: %(title)s") % {"severity": severity, "title": _one_line(change.title)}
    if change.event == "regressed":
        text = _("%(finding)s (found again after it was fixed)") % {"finding": text}
    url = address.of_finding(change.id) or str(address)
    return Line(text=text, detail=_one_line(change.location), url=_absolute(url))


def note_line(note: NoteChange, address: Address, *, base: str = "") -> Line:
    """That there is a note, and its page at ``base``."""
    names = {"author": _one_line(note.author), "title": _one_line(note.finding_title or "")}
    about_finding = note.finding_id and address.of_finding(note.finding_id)
    if about_finding:
        text = _("%(author)s wrote a note about “%(title)s”") % names
    else:
        text = _("%(author)s wrote a note about the website") % names
    return Line(text=text, detail="", url=f"{base}{about_finding or f'{address}#notes'}")


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _absolute(path: str) -> str:
    return f"{settings.PORTAL_BASE_URL}{path}"
