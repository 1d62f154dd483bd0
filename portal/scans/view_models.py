"""View models of the pages of scans."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from foundation.texts.stored_texts import translate
from portal.models import Website
from portal.pages.urls import site_address
from portal.scans import labels
from portal.scans.forms import ScheduleForm
from portal.texts import labels as words
from signed_api.findings import CoverageEntry
from signed_api.scans import (
    PROTECTIONS,
    HomePage,
    PageChange,
    Scan,
    ScanAllowance,
    ScanRun,
    ScanScheduleResponse,
)

DEEP = "deep"  # the profile that needs a consent
SOON_SECONDS, LATER_SECONDS = 3, 15  # between two polls of a waiting or running scan: a new or an older one
_MAX_KILOBYTES = 256  # of a page that the service reads
_NEW_SCAN_TIME = timedelta(minutes=1)  # longer than a quick scan takes


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRow:
    """A scanner of the running scan: its name, what it looks at, its state and its time."""

    name: str
    work: str
    state: str
    tone: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """The waiting or running scan; the page polls after ``poll_seconds``."""

    title: str
    text: str
    engines: tuple[EngineRow, ...]
    cancel_url: str
    poll_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRow:
    """A scan that has ended; ``reason`` says why it found less than it could."""

    at: datetime
    title: str
    outcome: str
    tone: str
    found: str
    reason: str
    page_url: str = ""  # compares the pages, if this scan met a different one
    comparisons: tuple[tuple[str, str], ...] = ()  # name of a scanner, URL


@dataclass(frozen=True, slots=True, kw_only=True)
class LastScan:
    """The headline about the last scan; ``url`` leads to the findings, or to help after a refusal."""

    title: str
    tone: str
    reason: str
    url: str
    url_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A scan that can be started by hand, now or from ``allowed_at`` on."""

    profile: str
    label: str
    meaning: str
    left: str
    allowed_at: datetime | None
    is_possible: bool
    needs_consent: bool = False
    proof_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The schedule of scans in words, with a ``form`` for people who may change it."""

    text: str
    pause: str
    next_at: tuple[datetime, ...]
    month: str
    consent: str
    deep_problem: str
    form: ScheduleForm | None
    asks_consent: bool
    save_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetestPage:
    """The last or running test of one finding; ``notices`` say why no test began.

    ``poll_url`` polls a running test; its result reloads the whole page.
    """

    host: str
    url: str
    poll_url: str
    finding_url: str
    text: str
    tone: str
    reason: str
    at: datetime | None
    is_running: bool
    may_check: bool
    notices: tuple[str, ...]
    page_url: str = ""
    poll_seconds: int = SOON_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFact:
    """A fact about the known page, and about the page that a scan met."""

    label: str
    known: tuple[str, ...]
    seen: tuple[str, ...]
    is_changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChangePage:
    """Both pages side by side; a POST to ``url`` confirms the page that the scan met."""

    host: str
    url: str
    site_url: str
    scans_url: str
    at: datetime
    facts: tuple[PageFact, ...]
    has_known: bool
    confirmed_at: datetime | None
    may_confirm: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScansPage:
    """The page of scans; ``offers`` are empty while a scan runs, and for people who may not start one."""

    host: str
    url: str
    site_url: str
    step: str
    strip: Strip | None
    rows: tuple[ScanRow, ...]
    has_rows_elsewhere: bool
    last: LastScan | None
    offers: tuple[Offer, ...]
    start_url: str
    schedule: Schedule | None
    addresses: tuple[str, ...]
    user_agent: str
    next_url: str


def url_of(name: str, website: Website, *arguments: object, names_account: bool, **query: object) -> str:
    """Return the URL of a page of scans; it names the account if several of the person's have the host."""
    account = {"account": website.account.ref} if names_account else {}
    return reverse(f"portal:{name}", args=[website.host, *arguments], query=account | query or None)


def scans_page(
    website: Website,
    scans: Sequence[Scan],
    rules: ScanScheduleResponse | None,
    *,
    names_account: bool,
    may_scan: bool,
    may_consent: bool,
    number: int,
    next_page: int | None,
    form: ScheduleForm | None = None,
    proof_url: str = "",
    coverage: Iterable[CoverageEntry] = (),
) -> ScansPage:
    """Return page ``number`` with these scans, the newest first; ``rules`` may be None while a scan runs.

    The first page has a headline about the newest scan, and offers new scans. ``form`` is an invalid schedule
    to show again. ``proof_url`` leads to the proof that a deep scan needs. ``coverage`` adds scanners that
    run elsewhere.
    """
    elsewhere = [
        replace(
            _row_elsewhere(entry),
            comparisons=(
                ("", url_of("newest_comparison", website, names_account=names_account, source=entry.source)),
            ),
        )
        for entry in coverage
        if entry.ours is False and entry.last_run_at
    ]
    unended = next((scan for scan in scans if scan.ended_at is None), None)
    ended = [scan for scan in scans if scan.ended_at is not None]
    own = [
        replace(
            _row(scan, _page_url(scan, website, names_account=names_account)),
            comparisons=tuple(_comparisons(scan, website, names_account=names_account)),
        )
        for scan in ended
    ]
    newest = next((scan for scan in ended if scan.finding_id is None), None)  # retests have their own pages
    is_first = number == 1
    origin = rules.origin if rules else None
    return ScansPage(
        host=website.host,
        url=url_of("scans", website, names_account=names_account),
        site_url=str(site_address(website, names_account=names_account)),
        step=_step(scans) if is_first else "",
        strip=_strip(unended, website, names_account=names_account, may_cancel=may_scan) if unended else None,
        rows=tuple(sorted([*own, *elsewhere], key=lambda row: row.at, reverse=True)),
        has_rows_elsewhere=bool(elsewhere),
        last=_last_scan(
            newest,
            rules,
            str(site_address(website, names_account=names_account)),
            _page_url(newest, website, names_account=names_account),
        )
        if newest and is_first and not unended
        else None,
        offers=tuple(_offers(rules, may_consent=may_consent, proof_url=proof_url))
        if rules and may_scan and is_first and not unended
        else (),
        start_url=url_of("start_scan", website, names_account=names_account),
        schedule=_schedule(
            rules,
            runs_elsewhere=bool(elsewhere),
            save_url=url_of("schedule_scans", website, names_account=names_account) if may_scan else "",
            may_consent=may_consent,
            form=form,
        ),
        addresses=tuple(address[:60] for address in origin.addresses) if origin else (),
        user_agent=origin.user_agent[:100] if origin else "",
        next_url=url_of("scans", website, names_account=names_account, page=next_page) if next_page else "",
    )


def _step(scans: Sequence[Scan]) -> str:
    """Return a new website's step, "scan" or "results", while its first scan is the only one."""
    if len(scans) != 1 or scans[0].trigger != "first":
        return ""
    return "results" if scans[0].ended_at else "scan"


def _strip(scan: Scan, website: Website, *, names_account: bool, may_cancel: bool) -> Strip:
    now = timezone.now()
    is_new = now - (scan.started_at or scan.created_at) < _NEW_SCAN_TIME
    cancel_url = url_of("cancel_scan", website, int(scan.job_id), names_account=names_account)
    return Strip(
        title=_title(scan),
        text=_progress(scan),
        engines=tuple(_engine(run, now) for run in scan.runs),
        cancel_url=cancel_url if may_cancel and scan.cancellable and not scan.cancelling else "",
        poll_seconds=SOON_SECONDS if is_new else LATER_SECONDS,
    )


def _title(scan: Scan) -> str:
    profile = words.label(labels.PROFILES, scan.profile)
    if scan.cancelling:
        return _("%(scan)s: being cancelled") % {"scan": profile}
    if scan.state == "queued":
        return _("%(scan)s: waiting") % {"scan": profile}
    return _("%(scan)s: running") % {"scan": profile}


def _progress(scan: Scan) -> str:
    """Return the place in the queue, or the number of the running scanner."""
    if scan.state == "queued":
        if scan.position is None or scan.position <= 1:
            return _("It begins as soon as a scanner is free.")
        return _("Number %(number)s in the queue.") % {"number": number_format(scan.position)}
    running = next((number for number, run in enumerate(scan.runs, 1) if run.state == "running"), None)
    if running is None:
        return ""
    return _("Scanner %(number)s of %(count)s.") % {"number": running, "count": len(scan.runs)}


def _engine(run: ScanRun, now: datetime) -> EngineRow:
    text, usually = "", ""
    if run.usual_seconds:
        usually = _("usually %(count)s s") % {"count": number_format(run.usual_seconds)}
    if run.state == "running" and run.started_at is not None:
        seconds = max(0, int((now - run.started_at).total_seconds()))
        text = _("for %(count)s s") % {"count": number_format(seconds)}
        text += f", {usually}" if usually else ""
    elif run.state == "waiting":
        text = usually
    elif run.started_at is not None and run.ended_at is not None:
        seconds = max(0, int((run.ended_at - run.started_at).total_seconds()))
        text = _("in %(count)s s") % {"count": number_format(seconds)}
    tone = {"ok": "ok", "running": "partial", "blocked": "failed", "failed": "failed", "timed_out": "failed"}
    return EngineRow(
        name=_scanner(run),
        work=str(labels.WORK.get(run.engine, "")),
        state=str(labels.SKIPPED.get(run.reason or "", labels.ENGINES["skipped"]))
        if run.state == "skipped"
        else words.label(labels.ENGINES, run.state),
        tone=tone.get(run.state, ""),
        text=text,
    )


def _scanner(run: ScanRun) -> str:
    return run.title[:100] or run.engine[:50].capitalize()


def _page_url(scan: Scan, website: Website, *, names_account: bool) -> str:
    """Return the URL that compares the pages, if this scan met a different one."""
    return (
        ""
        if scan.page_change is None
        else url_of("confirm_page", website, int(scan.job_id), names_account=names_account)
    )


def _row(scan: Scan, page_url: str = "") -> ScanRow:
    outcome = scan.outcome or scan.state
    return ScanRow(
        at=scan.started_at or scan.created_at,
        title=f"{words.label(labels.PROFILES, scan.profile)}, {words.label(labels.TRIGGERS, scan.trigger)}",
        outcome=words.label(labels.OUTCOMES | labels.ENDS, outcome),
        tone=labels.TONES.get(outcome, "" if outcome == "cancelled" else "failed"),
        found=_found(scan),
        reason=_reason(scan),
        page_url=page_url,
    )


def _reason(scan: Scan) -> str:
    """Return why the scan found less than it could, and who seems to have blocked it."""
    if not scan.reason:
        return ""
    reason = str(labels.REASONS.get(scan.reason, labels.OTHER_REASON))
    if scan.reason != "blocked":
        return reason
    if scan.protection not in labels.WHERE_TO_ALLOW:
        return f"{reason} {labels.BLOCKED_BY_UNKNOWN}"
    by = labels.BLOCKED_BY % {"product": PROTECTIONS[scan.protection]}
    return f"{by} {labels.WHERE_TO_ALLOW[scan.protection]}"


def _comparisons(scan: Scan, website: Website, *, names_account: bool) -> Iterable[tuple[str, str]]:
    """Yield each scanner with a stored report, and the URL that compares it with its scan before.

    The name is empty if the scan has only one. There is none for retests and for the first scan of a website.
    """
    is_comparable = scan.finding_id is None and scan.trigger != "first"
    runs = [run for run in scan.runs if run.run_id] if is_comparable else []
    for run in runs:
        name = _scanner(run) if len(runs) > 1 else ""
        yield name, url_of("newest_comparison", website, names_account=names_account, to=run.run_id)


def _row_elsewhere(entry: CoverageEntry) -> ScanRow:
    """Return the newest scan of a scanner that the service does not run."""
    count, due = entry.findings or 0, ""
    found = ngettext("%(count)s open finding", "%(count)s open findings", count)
    if entry.next_due_on:
        due = ", " + _("next report by %(day)s") % {"day": words.day_and_month(entry.next_due_on)}
    return ScanRow(
        at=entry.last_run_at or timezone.now(),
        title=_("%(scanner)s, run elsewhere") % {"scanner": entry.source_name[:100]} + due,
        outcome=words.label(labels.ELSEWHERE, entry.state),
        tone=entry.state,
        found=found % {"count": number_format(count)},
        reason=translate(entry.detail),
    )


def _found(scan: Scan) -> str:
    """Return the numbers of findings; empty for a scan that stored no result."""
    if scan.new is None:
        return ""
    parts = [_("%(count)s new") % {"count": number_format(scan.new)}]
    if scan.reopened:
        parts.append(_("%(count)s back") % {"count": number_format(scan.reopened)})
    parts.append(_("%(count)s fixed") % {"count": number_format(scan.fixed or 0)})
    return ", ".join(parts)


def _last_scan(
    scan: Scan, rules: ScanScheduleResponse | None, site_url: str, page_url: str
) -> LastScan | None:
    """Return the headline about the newest scan, unless it was cancelled."""
    title = _last_title(scan)
    if not title:
        return None
    row = _row(scan)
    url, url_text = (site_url, _("See what to do first")) if scan.new is not None else ("", "")
    if scan.outcome == "blocked":
        has_origin = rules is not None and rules.origin.user_agent
        url, url_text = ("#origin-title", _("Allow our addresses")) if has_origin else ("", "")
    if page_url:
        url, url_text = page_url, _("Compare the pages")
    return LastScan(
        title=title, tone="" if row.tone == "ok" else row.tone, reason=row.reason, url=url, url_text=url_text
    )


def _last_title(scan: Scan) -> str:
    found = _found(scan)
    if scan.state == "failed":
        return _("The last scan failed and has no results.")
    if scan.outcome == "blocked":
        return _("The website blocked the last scan, so it has no results.")
    if scan.outcome == "different":
        return _("The page looks different, so the last scan does not count.")
    if scan.outcome == "partial":
        text = _("The last scan is only partly complete: %(found)s.")
        return text % {"found": found} if found else _("The last scan is only partly complete.")
    if scan.new is None or scan.state != "finished":
        return ""
    if scan.reopened or scan.fixed:
        return _("The last scan: %(found)s.") % {"found": found}
    if not scan.new:
        return _("The last scan found nothing new.")
    text = ngettext(
        "The last scan found %(count)s new problem.", "The last scan found %(count)s new problems.", scan.new
    )
    return text % {"count": number_format(scan.new)}


def needs_dns_proof(rules: ScanScheduleResponse) -> bool:
    """Return whether a deep scan is refused because the DNS proof is missing."""
    return any(each.profile == DEEP and each.reason == "dns_proof_missing" for each in rules.allowance)


def _offers(rules: ScanScheduleResponse, *, may_consent: bool, proof_url: str) -> Iterable[Offer]:
    for allowance in rules.allowance:
        if allowance.profile not in labels.MEANINGS:
            continue
        is_possible = allowance.included and allowance.allowed_at is None
        needs_consent = is_possible and allowance.profile == DEEP and rules.consent_until is None
        is_waiting = needs_consent and not may_consent
        yield Offer(
            profile=allowance.profile,
            label=words.label(labels.PROFILES, allowance.profile),
            meaning=str(labels.MEANINGS[allowance.profile]),
            left=str(labels.REFUSALS["consent_missing"]) if is_waiting else _left_text(allowance),
            allowed_at=allowance.allowed_at if allowance.included else None,
            is_possible=is_possible and not is_waiting,
            needs_consent=needs_consent,
            proof_url=proof_url if allowance.profile == DEEP else "",
        )


def _left_text(allowance: ScanAllowance) -> str:
    if not allowance.included:
        return str(labels.NOT_SCANNABLE.get(allowance.reason or "", labels.REFUSALS["scans_not_included"]))
    text = ngettext("%(count)s left today.", "%(count)s left today.", allowance.remaining_today)
    return text % {"count": allowance.remaining_today}


def _schedule(
    rules: ScanScheduleResponse | None,
    *,
    runs_elsewhere: bool,
    save_url: str,
    may_consent: bool,
    form: ScheduleForm | None,
) -> Schedule | None:
    """Return the schedule of scans, if there are rules."""
    if rules is None:
        return None
    if form is None:
        form = ScheduleForm(rules=rules)
    else:
        form.offer(rules)
    has_deep = any(each.included for each in rules.allowance if each.profile == DEEP)
    consent = ""
    if has_deep and rules.consent_until:
        consent = _("An owner has agreed to deep scans until %(day)s.") % {
            "day": words.day(rules.consent_until)
        }
    return Schedule(
        text=_times_text(rules, runs_elsewhere=runs_elsewhere),
        pause=_pause_text(rules),
        next_at=() if rules.schedule.pause_reason else tuple(rules.next_at),
        month=_month_text(rules),
        consent=consent,
        deep_problem=str(labels.NOT_SCANNABLE["dns_proof_missing"]) if needs_dns_proof(rules) else "",
        form=form if save_url else None,
        asks_consent=has_deep and may_consent and rules.consent_until is None,
        save_url=save_url,
    )


def _times_text(rules: ScanScheduleResponse, *, runs_elsewhere: bool) -> str:
    schedule = rules.schedule
    if (schedule is None or schedule.frequency == "off") and runs_elsewhere:
        return _("We scan only by hand. Scanners that run elsewhere have their own times.")
    if schedule is None or schedule.frequency == "off":
        return _("The website is not scanned automatically.")
    values = {
        "often": _weekly(rules) or words.label(labels.FREQUENCIES, schedule.frequency),
        "scan": words.label(labels.PROFILES, schedule.profile),
        "begin": f"{schedule.start_hour:02}:00",
        "end": f"{(schedule.start_hour + schedule.hours) % 24:02}:00",
        "zone": schedule.time_zone[:64],
    }
    text = _("%(often)s: %(scan)s, begins between %(begin)s and %(end)s (%(zone)s).") % values
    if not schedule.by_default:
        return text
    return f"{text} " + _("This is the default for a new website. Nobody has changed it yet.")


def _weekly(rules: ScanScheduleResponse) -> str:
    """Return on which day of the week the window of the next scan begins; empty if that is unknown."""
    schedule = rules.schedule
    try:
        zone = ZoneInfo(schedule.time_zone)
    except (ValueError, OSError):  # unknown here
        return ""
    if schedule.frequency != "weekly" or not rules.next_at:
        return ""
    at = rules.next_at[0].astimezone(zone)
    if at.hour < schedule.start_hour:  # after midnight: the window began the day before
        at -= timedelta(days=1)
    return _("Every %(weekday)s") % {"weekday": date_format(at, "l")}


def _pause_text(rules: ScanScheduleResponse) -> str:
    schedule = rules.schedule
    if schedule is None or schedule.frequency == "off":
        return ""
    if schedule.pause_reason:
        reason = labels.REASONS.get(schedule.pause_reason, labels.OTHER_REASON)
        text = _("The schedule is paused after three scans without a result. Save it to begin again.")
        return f"{text} {reason}"
    if schedule.paused_until and schedule.paused_until > timezone.now().date():
        return _("Paused until %(day)s.") % {"day": words.day(schedule.paused_until)}
    return ""


def _month_text(rules: ScanScheduleResponse) -> str:
    used, limit = rules.month.used, rules.month.limit
    if limit is None:
        return ""
    text = _("%(used)s of the %(limit)s scans that your plan includes this month are used.")
    return text % {"used": number_format(used), "limit": number_format(limit)}


def retest_page(
    website: Website,
    finding_id: str,
    last: Scan | None,
    *,
    names_account: bool,
    may_check: bool,
    notices: Iterable[str] = (),
) -> RetestPage:
    """Return the page with the last test of the finding."""
    is_running = last is not None and last.ended_at is None
    row = _row(last) if last and not is_running else None
    text = row.outcome if row else ""
    if is_running:
        text = _("Retesting. This can take a few minutes.")
    return RetestPage(
        host=website.host,
        url=url_of("retest", website, finding_id, names_account=names_account),
        poll_url=url_of("retest", website, finding_id, names_account=names_account, running=1)
        if is_running
        else "",
        finding_url=site_address(website, names_account=names_account).of_finding(finding_id),
        text=text,
        tone=row.tone if row else "",
        reason=row.reason if row else "",
        at=last.ended_at if last else None,
        is_running=is_running,
        may_check=may_check,
        notices=tuple(notices),
        page_url=_page_url(last, website, names_account=names_account) if last else "",
    )


def page_change_page(
    website: Website, scan: Scan, *, names_account: bool, may_confirm: bool
) -> PageChangePage | None:
    """Return the comparison of the page that the scan met with the known one, if they differ."""
    change = scan.page_change
    if change is None:
        return None
    return PageChangePage(
        host=website.host,
        url=_page_url(scan, website, names_account=names_account),
        site_url=str(site_address(website, names_account=names_account)),
        scans_url=url_of("scans", website, names_account=names_account),
        at=scan.started_at or scan.created_at,
        facts=tuple(_facts(change)),
        has_known=change.known is not None,
        confirmed_at=change.confirmed_at,
        may_confirm=may_confirm and change.confirmed_at is None,
    )


def _facts(change: PageChange) -> Iterable[PageFact]:
    """Yield each fact about both pages; without a known page, its values are empty."""
    known = _described(change.known) if change.known else {}
    for label, seen in _described(change.seen).items():
        is_changed = bool(known) and known[label] != seen
        yield PageFact(label=label, known=known.get(label, ()), seen=seen, is_changed=is_changed)


def _described(page: HomePage) -> dict[str, tuple[str, ...]]:
    """Return the values of each fact, by label; texts come from the website, so they are cut."""
    hosts = tuple(host[:60] for host in page.script_hosts[:20])
    cookies = tuple(cookie[:60] for cookie in page.cookies[:20])
    kilobytes = page.bytes_below // 1024
    size = _("less than %(count)s KB") % {"count": max(kilobytes, 1)}
    if kilobytes > _MAX_KILOBYTES:
        size = _("%(count)s KB or more") % {"count": _MAX_KILOBYTES}
    return {
        _("Title"): (page.title[:100] or _("no title"),),
        _("Links to its own pages"): (str(page.links),),
        _("Scripts from"): hosts or (_("no scripts"),),
        _("Cookies"): cookies or (_("no cookies"),),
        _("Size"): (size,),
    }
