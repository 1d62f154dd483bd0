"""Composition of an e-mail about changes, in the reader's language."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.signing import Signer
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import localize
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from foundation.addresses.hosts import readable_host
from foundation.texts.words import on_one_line
from portal.models import PendingNotification, Subscription, Website, WebsiteSummary
from portal.models.languages import language_of
from portal.models.summaries import Headline
from portal.notifications.digest import Digest, Message, Reminder
from portal.pages.urls import Address, site_address
from portal.texts import expiry, labels, topics
from portal.texts.markdown import plain_text
from signed_api.answers import OVERDUE, THIS_WEEK, WAITING
from signed_api.findings import Change, NoteChange, Summary
from signed_api.inventory import DOMAIN

HTTPS = 443
FRESH = timedelta(days=8)  # of a reading: a week between two scans, and a day
MAX_OTHERS = 10  # websites that a reminder names
SHOWN_PROBLEMS = SHOWN_MESSAGES = 20  # of a website
EXCERPT_LENGTH = 300
MESSAGES = {
    "message": gettext_lazy("%(author)s wrote about %(finding)s"),
    "asked": gettext_lazy("%(author)s has a question about %(finding)s"),
    "agreed": gettext_lazy("%(author)s agrees that it is not a problem: %(finding)s"),
    "disagreed": gettext_lazy("%(author)s disagrees, and it stays open: %(finding)s"),
    "overtaken": gettext_lazy("No longer found by a scan, so your dispute is closed: %(finding)s"),
    "gone": gettext_lazy("No longer found by a scan: %(finding)s"),
    "still_there": gettext_lazy("Still found by a scan: %(finding)s"),
    "ends_soon": gettext_lazy("The accepted risk ends in two weeks: %(finding)s"),
    "expired": gettext_lazy("The accepted risk has ended: %(finding)s"),
    "worse": gettext_lazy("The accepted risk has ended, because it is worse now: %(finding)s"),
    "declined": gettext_lazy("The second person did not accept the risk: %(finding)s"),
    "decided": gettext_lazy("Our team closed it: %(finding)s"),
    "mention": gettext_lazy("%(author)s mentioned you in a message about %(finding)s"),
    "second_person": gettext_lazy("%(author)s accepts a risk, and you can confirm or decline: %(finding)s"),
}
_signer = Signer(salt="portal.news")  # keep: e-mails already sent have tokens with this salt


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """The findings of a problem, a note or a message, with its page; the last two have fewer fields."""

    text: str
    detail: str
    url: str
    label: str = ""
    tone: str = ""
    title: str = ""
    is_title_translated: bool = False
    fix: str = ""
    is_fix_translated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderText:
    """A reminder in words: labels with ``facts``, then what happens and what to do."""

    facts: tuple[tuple[str, str], ...]
    text: str
    url: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyGrade:
    """The grade as text, and the change of open findings within a week.

    ``trend`` is empty if the change is unknown. ``fixed`` is the number of findings fixed in a week as text,
    empty for 0; ``fixed_url`` lists them.
    """

    letter: str
    text: str
    trend: str
    fixed: str
    fixed_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One website: problems worst first, ``more`` for the number of other findings, and the page with all.

    Only weekly e-mails have a ``grade``, if it is known; daily and weekly ones have the findings that are
    ``due``.
    """

    host: str
    heading: str
    grade: WeeklyGrade | None
    due: tuple[Item, ...]
    findings: tuple[Item, ...]
    more: str
    list_url: str
    notes: tuple[Item, ...]
    messages: tuple[Item, ...]
    reminder: ReminderText | None = None


def unsubscribe_token(membership_id: int) -> str:
    """Return the token in a membership's e-mails; all it can do is end them."""
    return _signer.sign(str(membership_id))


def membership_of_token(token: str) -> int:
    """Return the id of the membership in ``token``; raises BadSignature."""
    return int(_signer.unsign(token))


def compose(email_id: UUID, notifications: Sequence[PendingNotification]) -> EmailMultiAlternatives:
    """Return the e-mail of ``notifications``, all of one member."""
    membership = notifications[0].membership
    subscription = Subscription.of(membership)
    language = subscription.language or language_of(membership.user_id)
    with translation.override(language):
        sections = [_section(notification) for notification in notifications]
        token = unsubscribe_token(membership.pk)
        unsubscribe_url = _absolute(reverse("portal:unsubscribe", args=[token]))
        context = {
            "sections": sections,
            "account": membership.account,
            "is_about_messages": any(section.messages for section in sections),
            "is_about_reminders": any(section.reminder for section in sections),
            "min_severity": labels.label(labels.SEVERITIES, subscription.min_severity),
            "settings_url": _absolute(reverse("portal:notifications")),
            "unsubscribe_url": unsubscribe_url,
            "language": language,
        }
        message = EmailMultiAlternatives(
            subject=_subject(sections),
            body=render_to_string("portal/notifications/email.txt", context),
            to=[membership.user.email],
            headers=_headers(email_id, unsubscribe_url),
        )
        html = render_to_string("portal/notifications/email.html", context)
        message.attach_alternative(html, "text/html")
    return message


def _headers(email_id: UUID, unsubscribe_url: str) -> dict[str, str]:
    """Return the headers: one Message-ID for all attempts, and one-click unsubscribing (RFC 8058)."""
    headers = {
        "Message-ID": f"<{email_id}@{urlsplit(settings.PORTAL_BASE_URL).hostname}>",
        "Auto-Submitted": "auto-generated",
        "List-Unsubscribe": f"<{unsubscribe_url}>",
    }
    if unsubscribe_url.startswith("https:"):
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers


def _subject(sections: Sequence[Section]) -> str:
    if len(sections) == 1:
        return sections[0].heading
    count = len(sections)
    if any(section.reminder for section in sections):
        text = ngettext(
            "%(count)s certificate or domain expires", "%(count)s certificates or domains expire", count
        )
        return text % {"count": localize(count)}
    return ngettext("News about %(count)s website", "News about %(count)s websites", count) % {
        "count": localize(count)
    }


def new_findings_path(host: str, *, account: str, since: str, min_severity: str) -> str:
    """Return the path of the page of changes since a cursor, with a minimum severity."""
    fields = {"since": since, "min_severity": min_severity, "account": account}
    query = urlencode({name: value for name, value in fields.items() if value})
    return f"{reverse('portal:new_findings', args=[host])}?{query}"


def _section(notification: PendingNotification) -> Section:
    website, digest = notification.website, Digest.from_json(notification.digest)
    membership = notification.membership
    same_host = Website.objects.visible_to(membership.user).with_host(website.host)
    address = site_address(website, names_account=same_host.count() > 1)
    if digest.reminder:
        return _section_of_reminder(website, digest.reminder, address)
    subscription = Subscription.of(membership)
    headline = None if digest.messages else _headline(website, subscription)
    messages = _message_items(digest.messages, address)
    shown = _by_problem(digest.findings)[:SHOWN_PROBLEMS]
    list_path = new_findings_path(
        website.host,
        account=address.account,
        since=digest.since,
        min_severity=subscription.min_severity,
    )
    host = readable_host(website.host)
    return Section(
        host=website.host,
        heading=_heading_of_messages(host, messages) if messages else _heading(host, digest),
        grade=_grade(headline, subscription, address),
        due=due_items(headline.summary, address, base=settings.PORTAL_BASE_URL) if headline else (),
        findings=tuple(_problem_item(changes, address, is_complete=digest.is_complete) for changes in shown),
        more=_more_text(digest, sum(map(len, shown))),
        list_url=_absolute(list_path) if digest.findings else "",
        notes=tuple(note_item(note, address, base=settings.PORTAL_BASE_URL) for note in digest.notes),
        messages=messages[:SHOWN_MESSAGES],
    )


def _section_of_reminder(website: Website, reminder: Reminder, address: Address) -> Section:
    now, host = timezone.now(), readable_host(website.host)
    names = {"host": host, "domain": readable_host(reminder.name)}
    names["expires"] = expiry.in_words(reminder.valid_until, now)
    if reminder.kind == DOMAIN:
        subject = _("%(host)s: the domain %(domain)s %(expires)s")
    else:
        subject = _("%(host)s: a certificate %(expires)s")
    heading = subject % names
    return Section(
        host=website.host,
        heading=heading,
        grade=None,
        due=(),
        findings=(),
        more="",
        list_url="",
        notes=(),
        messages=(),
        reminder=_reminder_text(host, reminder, address, now),
    )


def _reminder_text(host: str, reminder: Reminder, address: Address, now: datetime) -> ReminderText:
    name = readable_host(reminder.name)
    if reminder.kind == DOMAIN:
        about = [(_("Domain"), name), (_("Registrar"), on_one_line(reminder.issuer))]
        text = _(
            "After this day the website and its e-mail stop working, and later somebody else can register "
            "the name. Renew it at your registrar, and check that your payment details there are valid."
        )
        label = _("See the domain")
    else:
        name = name if reminder.port in (None, HTTPS) else f"{name}:{reminder.port}"
        about = [(_("Certificate of"), name), (_("Issuer"), on_one_line(reminder.issuer))]
        text = _(
            "After this day browsers warn your visitors, and apps refuse to connect. Renew the certificate, "
            "or check that the program that renews it works. The reminders end when a scan reads the new one."
        )
        label = _("See the certificate")
    read_on = labels.day(reminder.seen_at.date())
    facts = [(_("Website"), host), *about, (_("Last day"), labels.day(reminder.valid_until.date()))]
    if reminder.also:
        others = ", ".join(readable_host(each) for each in reminder.also[:MAX_OTHERS])
        more = len(reminder.also) - MAX_OTHERS
        facts.append((_("Also on"), others + (f" (+{localize(more)})" if more > 0 else "")))
    if now - reminder.seen_at > FRESH:
        stale = _("%(day)s; no scan has read it since, so it may have been renewed")
        facts.append((_("As of"), stale % {"day": read_on}))
    else:
        facts.append((_("Read on"), read_on))
    shown = tuple((label, value) for label, value in facts if value)
    return ReminderText(facts=shown, text=text, url=_absolute(address.of_inventory()), label=label)


def _headline(website: Website, subscription: Subscription) -> Headline | None:
    """Return the last known numbers for a digest; None for an e-mail at once."""
    if subscription.frequency == Subscription.Frequency.IMMEDIATE:
        return None
    summary = WebsiteSummary.objects.filter(website_id=website.pk).first()
    return summary.headline if summary else None


def due_items(summary: Summary, address: Address, *, base: str = "") -> tuple[Item, ...]:
    """Return how many findings are overdue and due this week, with their lists at ``base``."""
    overdue = ngettext("%(count)s finding is overdue", "%(count)s findings are overdue", summary.overdue)
    this_week = ngettext(
        "%(count)s finding is due this week", "%(count)s findings are due this week", summary.due_this_week
    )
    found = ((summary.overdue, overdue, OVERDUE), (summary.due_this_week, this_week, THIS_WEEK))
    return tuple(
        Item(text=text % {"count": localize(count)}, detail="", url=base + _filtered(address, due=due))
        for count, text, due in found
        if count
    )


def _filtered(address: Address, **filters: str) -> str:
    """Return the URL of the website's list with these filters alone."""
    account = {"account": address.account} if address.account else {}
    return f"{address.path}?{urlencode(account | filters)}#findings-title"


def _grade(headline: Headline | None, subscription: Subscription, address: Address) -> WeeklyGrade | None:
    """Return the last known grade with the change of a week; None unless e-mails are weekly."""
    if subscription.frequency != Subscription.Frequency.WEEKLY:
        return None
    if headline is None or headline.dashboard.grade is None:
        return None
    today = headline.dashboard.generated_at.date()
    earlier = [entry for entry in headline.summary.history if entry.day <= today - timedelta(days=7)]
    letter = headline.dashboard.grade
    grade = _("%(grade)s so far") % {"grade": letter} if headline.dashboard.grade_provisional else letter
    count = headline.summary.fixed_7d
    fixed = ngettext("%(count)s finding fixed in 7 days", "%(count)s findings fixed in 7 days", count)
    return WeeklyGrade(
        letter=letter,
        text=_("Grade %(grade)s on %(day)s") % {"grade": grade, "day": labels.day(today)},
        trend=_trend(headline.summary.open - earlier[-1].open) if earlier else "",
        fixed=fixed % {"count": localize(count)} if count else "",
        fixed_url=_absolute(address.with_filters(status="fixed", fixed="7")),
    )


def _trend(change: int) -> str:
    """Return how the number of open findings changed within a week."""
    count = abs(change)
    if change > 0:
        text = ngettext(
            "%(count)s open finding more than a week ago",
            "%(count)s open findings more than a week ago",
            count,
        )
    elif change < 0:
        text = ngettext(
            "%(count)s open finding fewer than a week ago",
            "%(count)s open findings fewer than a week ago",
            count,
        )
    else:
        text = _("As many open findings as a week ago")
    return text % {"count": localize(count)}


def _heading(host: str, digest: Digest) -> str:
    if not digest.findings:
        count = len(digest.notes)
        text = ngettext("%(host)s: %(count)s new note", "%(host)s: %(count)s new notes", count)
        return text % {"host": host, "count": localize(count)}
    worst = labels.label(labels.SEVERITIES, digest.findings[0].severity)
    names = {"host": host, "count": localize(digest.total), "worst": worst}
    if not digest.is_exact:
        return _("%(host)s: %(count)s or more findings to check, the worst: %(worst)s") % names
    text = ngettext(
        "%(host)s: %(count)s finding to check: %(worst)s",
        "%(host)s: %(count)s findings to check, the worst: %(worst)s",
        digest.total,
    )
    return text % names


def _more_text(digest: Digest, shown: int) -> str:
    others = digest.total - shown
    if not others:
        return ""
    text = ngettext("And %(count)s more.", "And %(count)s more.", others)
    return (text if digest.is_exact else _("And at least %(count)s more.")) % {"count": localize(others)}


def _by_problem(changes: Sequence[Change]) -> list[list[Change]]:
    """Group the changes by problem; the problem with the worst finding comes first."""
    problems: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        problems.setdefault((change.event, change.problem or change.id), []).append(change)
    return list(problems.values())


def _problem_item(changes: Sequence[Change], address: Address, *, is_complete: bool) -> Item:
    """Return the item of a problem, described by its worst finding; a single finding links to its own page.

    Unless ``is_complete``, the problem may have more findings.
    """
    worst = changes[0]
    topic = topics.title_of(worst.problem) if len(changes) > 1 else ""
    severity, title = labels.label(labels.SEVERITIES, worst.severity), topic or on_one_line(worst.title)
    text, label = _("%(severity)s: %(title)s") % {"severity": severity, "title": title}, severity
    if worst.event == "regressed":
        again = _("%(finding)s (found again)")
        text, label = again % {"finding": text}, again % {"finding": severity}
    url = address.of_finding(worst.id) if len(changes) == 1 else address.of_fix(worst.problem)
    return Item(
        text=text,
        detail=_locations(changes, is_complete=is_complete),
        url=_absolute(url or str(address)),
        label=label,
        tone=labels.tone(worst.severity),
        title=title,
        is_title_translated=bool(topic),
        fix=on_one_line(topics.translate(worst.fix)),
        is_fix_translated=topics.is_known(worst.fix),
    )


def _locations(changes: Sequence[Change], *, is_complete: bool) -> str:
    """Return the location of the worst finding, and how many others there are (or at least are)."""
    location, others = on_one_line(changes[0].location), len(changes) - 1
    if not others:
        return location
    if is_complete:
        text = ngettext("%(location)s and %(count)s more", "%(location)s and %(count)s more", others)
    else:
        text = _("%(location)s and at least %(count)s more")
    return text % {"location": location, "count": localize(others)}


def note_item(note: NoteChange, address: Address, *, base: str = "") -> Item:
    """Return the item of a note, with its URL at ``base``."""
    names = {"author": on_one_line(note.author), "title": on_one_line(note.finding_title or "")}
    finding_url = note.finding_id and address.of_finding(note.finding_id)
    if finding_url:
        text = _("%(author)s wrote a note about “%(title)s”") % names
    else:
        text = _("%(author)s wrote a note about the website") % names
    title = names["title"] if finding_url else ""
    return Item(text=text, detail="", url=f"{base}{finding_url or f'{address}#notes'}", title=title)


def _heading_of_messages(host: str, messages: Sequence[Item]) -> str:
    count = len(messages)
    if count == 1:
        return f"{host}: {messages[0].text}"
    text = ngettext("%(host)s: %(count)s message", "%(host)s: %(count)s messages", count)
    return text % {"host": host, "count": localize(count)}


def _message_items(messages: Sequence[Message], address: Address) -> tuple[Item, ...]:
    """Return an item for each message; events without words are one item for all their findings."""
    alike: dict[Hashable, list[Message]] = {}
    for message in messages:
        alike.setdefault(message.id if message.text else message.event, []).append(message)
    return tuple(_message_item(each, address) for each in alike.values())


def _message_item(messages: Sequence[Message], address: Address) -> Item:
    first, others = messages[0], sum(message.findings for message in messages) - 1
    title = on_one_line(first.title)
    finding = _("“%(title)s”") % {"title": title}
    if others > 0:
        more = ngettext("%(finding)s and %(count)s more", "%(finding)s and %(count)s more", others)
        finding = more % {"finding": finding, "count": localize(others)}
    text = MESSAGES[first.event] % {"finding": finding, "author": on_one_line(first.by) or _("Our team")}
    excerpt = Truncator(plain_text(first.text)).chars(EXCERPT_LENGTH)
    url = address.of_finding(first.finding_id) or _filtered(address, answer=WAITING)
    return Item(text=text, detail=excerpt, url=_absolute(url), title=title)


def _absolute(path: str) -> str:
    return f"{settings.PORTAL_BASE_URL}{path}"
