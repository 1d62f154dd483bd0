"""The fix of a shared finding for its readers: what checks it, and the news after "I fixed it"."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from portal.answers import service
from portal.models import ShareLink, Website
from portal.pages.view_models.findings import next_scans
from portal.sharing.actions import fixed_again_at
from portal.texts import labels
from signed_api.answers import FIXED, Answer
from signed_api.errors import CallError
from signed_api.findings import FIXED as GONE
from signed_api.findings import CoverageEntry, DashboardRequest, FindingResponse
from signed_api.scans import Scan, ScansRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class FixNews:
    """The result of the last "I fixed it"; a reader ``may_say`` it now, or ``again_at`` that time.

    ``decides`` says what shows whether a fix worked; it is empty if the finding is not open.
    """

    decides: str = ""
    text: str = ""
    tone: str = ""
    at: datetime | None = None
    is_running: bool = False
    may_say: bool = False
    again_at: datetime | None = None


def fix_news(share_link: ShareLink, response: FindingResponse) -> FixNews:
    """Return the news about the fix of the finding; about answers only if the link allows "I fixed it"."""
    website, is_open = share_link.website, response.finding.status == labels.OPEN
    if not share_link.allows_fixed:
        decides = _("A scan can check it at once: tell the person who sent you this page when it is fixed.")
        return FixNews(decides=_decides(website, response, at_once=decides) if is_open else "")
    if not is_open:
        gone = _last(response, "gone") if response.finding.status == GONE else None
        return (
            FixNews(text=_("A scan no longer finds it."), tone="ok", at=gone.ended_at) if gone else FixNews()
        )
    if response.answer and response.answer.answer == FIXED:
        return _said(website, response, response.answer)
    decides = _decides(website, response, at_once=_("A scan checks it at once after “I fixed it”."))
    if response.answer:
        return FixNews(decides=decides, text=_("The team has already answered this finding."))
    again_at = fixed_again_at(share_link, now=timezone.now())
    news = FixNews(decides=decides, may_say=again_at is None, again_at=again_at)
    last = _last(response, "still_there")
    if last is None:
        return news
    return replace(news, text=_("A scan still found it."), tone="failed", at=last.ended_at)


def _last(response: FindingResponse, outcome: str) -> Answer | None:
    """Return the last answer "fixed" with this outcome."""
    return next(
        (each for each in response.past_answers if (each.answer, each.outcome) == (FIXED, outcome)), None
    )


def _said(website: Website, response: FindingResponse, answer: Answer) -> FixNews:
    """Return the news while nothing has decided yet about the open answer "fixed"."""
    scan = _retest(website, response, since=answer.at) if response.can_retest else None
    if scan and scan.ended_at is None:
        text = (
            _("A scan checks it now.") if scan.state == "running" else _("A scan that checks it is waiting.")
        )
        decides = _("This page shows the result when the scan has ended.")
        return FixNews(decides=decides, text=text, tone="partial", at=answer.at, is_running=True)
    text = _("A scan could not check it.") if scan else _("It was said to be fixed.")
    return FixNews(decides=_decides(website, response), text=text, tone="partial", at=answer.at)


def _retest(website: Website, response: FindingResponse, *, since: datetime) -> Scan | None:
    """Return the last retest of the finding if it runs, or ended after ``since``."""
    with suppress(CallError):  # the gateway has logged it, and the page works without it
        found = service.get_scans(website, ScansRequest(finding_id=response.finding.id, page_size=1))
        return next((each for each in found.jobs if each.ended_at is None or each.ended_at >= since), None)
    return None


def _decides(website: Website, response: FindingResponse, *, at_once: str = "") -> str:
    """Say what shows whether a fix worked: a scan at once if this service can, the next scan, or analysts."""
    if response.can_retest and at_once:
        return at_once
    finding, coverage = response.finding, _coverage(website)
    entry = next((each for each in coverage if each.source == finding.source), None)
    if coverage and (entry is None or entry.last_run_at is None):
        return _("Our analysts check whether the fix worked.")
    return next_scans([finding], coverage)


def _coverage(website: Website) -> list[CoverageEntry]:
    """Return the scanners of the website; empty if the call fails, because the page works without days."""
    with suppress(CallError):
        return service.get_dashboard(website, DashboardRequest(page_size=1), stores_summary=False).coverage
    return []
