"""A finding in the forms in which it is handed over: Markdown, an e-mail, and a new issue."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal import issue_trackers, labels
from portal.forms import ShareListForm
from portal.gateway.messages import Dashboard, Finding
from portal.issue_trackers import cut_to_length
from portal.models import IssueTracker
from portal.stacks import fixes_by_stack
from portal.view_models.finding import reference, weaknesses

MAX_LOCATIONS = 20
# Some mail programs refuse longer addresses.
MAX_MAIL_URL_LENGTH = 1_900
MAX_SUBJECT_LENGTH = 150

_SPECIAL = re.compile(r"[\\`*_\[\]<>#|~!&]")
_MENTION = re.compile(r"(?<![\w/.])@(?=\w)")
_QUICK_ACTION = re.compile(r"^(\s*)/", re.MULTILINE)
_BACKTICKS = re.compile("`+")


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueLink:
    """A link that opens a new issue; ``is_cut``: its text is not complete."""

    tracker: str
    url: str
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareOffer:
    """The form that creates a share link, and its address; for members who may share."""

    url: str
    form: ShareListForm


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """The ways to pass a finding on; ``share`` only for members who may share it."""

    mail_url: str
    markdown: str = ""
    issue: IssueLink | None = None
    share: ShareOffer | None = None


def hand_over(finding: Finding, *, host: str, link: str, tracker: IssueTracker | None) -> HandOver:
    """Return the ways to pass ``finding`` on; their texts lead to ``link``."""
    return HandOver(
        markdown=as_markdown(finding, host=host, link=link),
        mail_url=mail_url(finding, host=host, link=link),
        issue=issue_link(finding, tracker, host=host, link=link) if tracker else None,
    )


def as_markdown(finding: Finding, *, host: str, link: str) -> str:
    """Return the whole finding as Markdown; no text of it can become an image, a mention or HTML."""
    markup = Markdown()
    blocks = [
        f"# {markup.text(finding.title)}",
        *_facts(finding, markup, host=host, link=link),
        *_advice(finding, markup),
        *_evidence(finding, markup),
    ]
    return "\n\n".join(blocks) + "\n"


def hand_over_problem(
    dashboard: Dashboard, *, title: str, problem: str, fix: str, link: str, tracker: IssueTracker | None
) -> HandOver:
    """Return the ways to pass on all findings of ``problem``; their texts lead to the list at ``link``."""
    host = dashboard.host

    def blocks(markup: Markup) -> list[str]:
        return list(_problem_blocks(dashboard, markup, problem=problem, fix=fix, link=link))

    body = "\n\n".join(blocks(Markdown()))
    heading = f"# {Markdown().text(_in_one_line(title))}"
    return HandOver(
        markdown=f"{heading}\n\n{body}\n",
        mail_url=_mail_url(f"{title} ({host})", [title, *blocks(Plain())]),
        issue=_issue_link(title, blocks(_markup_of(tracker)), tracker) if tracker else None,
    )


def mail_url(finding: Finding, *, host: str, link: str) -> str:
    """Return a mailto: link with what to fix, where and how."""
    markup = Plain()
    subject = f"[{labels.label(labels.SEVERITIES, finding.severity)}] {finding.title} ({host})"
    blocks = [finding.title, *_facts(finding, markup, host=host, link=link), *_how_to_fix(finding, markup)]
    return _mail_url(subject, blocks)


def _mail_url(subject: str, blocks: Iterable[str]) -> str:
    begin = f"mailto:?subject={quote(_in_one_line(subject)[:MAX_SUBJECT_LENGTH], safe='')}&body="
    body = "\n\n".join(blocks).replace("\n", "\r\n")
    return begin + quote(cut_to_length(body, MAX_MAIL_URL_LENGTH - len(begin)), safe="")


def list_mail_url(title: str, *, host: str, link: str) -> str:
    """Return a mailto: link that leads to a list of findings."""
    subject = quote(_in_one_line(f"{title} ({host})")[:MAX_SUBJECT_LENGTH], safe="")
    return f"mailto:?subject={subject}&body={quote(link, safe='')}"


def issue_link(finding: Finding, tracker: IssueTracker, *, host: str, link: str) -> IssueLink:
    """Return the link to a new issue in ``tracker``, without evidence, which may be confidential."""
    markup = _markup_of(tracker)
    blocks = [*_facts(finding, markup, host=host, link=link), *_advice(finding, markup)]
    return _issue_link(finding.title, blocks, tracker)


def _issue_link(title: str, blocks: Iterable[str], tracker: IssueTracker) -> IssueLink:
    url, is_cut = issue_trackers.new_issue_url(
        tracker.kind, tracker.url, title=_in_one_line(title), body="\n\n".join(blocks)
    )
    return IssueLink(tracker=issue_trackers.NAMES[tracker.kind], url=url, is_cut=is_cut)


class Plain:
    """Text without any markup."""

    def text(self, text: str) -> str:
        """Return a text of the finding."""
        return text

    def code(self, text: str) -> str:
        """Return a short piece of code."""
        return text

    def block(self, text: str) -> str:
        """Return lines of code."""
        return text

    def heading(self, text: str) -> str:
        """Return a heading."""
        return text.upper()

    def fact(self, name: str, value: str) -> str:
        """Return a line with a name and a value that is marked up already."""
        return f"{name}: {value}"


class Markdown(Plain):
    """Markdown as GitHub and GitLab read it."""

    def text(self, text: str) -> str:
        """Escape markup, mentions of people, and lines that GitLab would take for a command."""
        escaped = _SPECIAL.sub(r"\\\g<0>", text)
        return _QUICK_ACTION.sub(r"\1\\/", _MENTION.sub("@\u2060", escaped))

    def code(self, text: str) -> str:
        """Return code in a line, in more backticks than it has itself."""
        fence = "`" * (_longest_run(text) + 1)
        space = " " if "`" in text else ""
        return f"{fence}{space}{_in_one_line(text)}{space}{fence}"

    def block(self, text: str) -> str:
        """Return code in lines of its own."""
        fence = "`" * max(3, _longest_run(text) + 1)
        return f"{fence}text\n{text}\n{fence}"

    def heading(self, text: str) -> str:
        """Return a heading of the second level."""
        return f"## {text}"

    def fact(self, name: str, value: str) -> str:
        """Return an item of a list."""
        return f"- **{name}:** {value}"


Markup = Plain


def _markup_of(tracker: IssueTracker | None) -> Markup:
    """Return the markup that the tracker's form reads."""
    return Plain() if tracker and tracker.kind == "jira" else Markdown()


def _facts(finding: Finding, markup: Markup, *, host: str, link: str) -> Iterator[str]:
    """Yield one block with the short facts."""
    values = {
        _("Severity"): labels.label(labels.SEVERITIES, finding.severity),
        _("Confidence"): labels.label(labels.KINDS, finding.kind),
        _("Website"): markup.code(host),
        _("Where it was found"): markup.code(finding.location) if finding.location else "",
        _("Found by"): markup.text(finding.source_name or finding.source),
        _("Classification"): markup.text(", ".join(link.text for link in weaknesses(finding))),
        _("All details"): f"<{link}>" if isinstance(markup, Markdown) else link,
    }
    yield "\n".join(markup.fact(name, value) for name, value in values.items() if value)


def _advice(finding: Finding, markup: Markup) -> Iterator[str]:
    """Yield what it is, how to fix it, where else it is, and what to read."""
    yield from _section(_("What it is"), finding.description, markup)
    yield from _how_to_fix(finding, markup)
    yield from _examples(finding.problem, markup)
    others = [entry.location for entry in finding.locations if entry.location != finding.location]
    if others:
        yield markup.heading(_("More locations"))
        yield _listed([markup.code(location) for location in others[:MAX_LOCATIONS]])
    if left_out := finding.locations_count - min(len(others), MAX_LOCATIONS) - 1:
        yield from _left_out(left_out)
    if urls := [found.url for found in map(reference, finding.references) if found]:
        yield markup.heading(_("Read more"))
        yield _listed([f"<{url}>" if isinstance(markup, Markdown) else url for url in urls])


def _how_to_fix(finding: Finding, markup: Markup) -> Iterator[str]:
    yield from _section(_("How to fix it"), finding.remediation, markup)


def _examples(problem: str, markup: Markup) -> Iterator[str]:
    """Yield the fixes by stack."""
    for fix in fixes_by_stack(problem):
        yield f"{fix.stack}:"
        yield markup.block(fix.code)


def _problem_blocks(
    dashboard: Dashboard, markup: Markup, *, problem: str, fix: str, link: str
) -> Iterator[str]:
    """Yield the facts of a problem, its fix, and where its first findings are."""
    findings, total = dashboard.threats[:MAX_LOCATIONS], dashboard.dashboard.total
    worst = min(findings, key=lambda finding: labels.severity_rank(finding.severity)).severity
    values = {
        _("Severity"): labels.label(labels.SEVERITIES, worst),
        _("Website"): markup.code(dashboard.host),
        _("Findings"): number_format(total),
        _("All details"): f"<{link}>" if isinstance(markup, Markdown) else link,
    }
    yield "\n".join(markup.fact(name, value) for name, value in values.items())
    yield from _section(_("How to fix it"), fix, markup)
    yield from _examples(problem, markup)
    yield markup.heading(_("Where it was found"))
    yield _listed(
        [
            f"{markup.code(finding.location)}: {markup.text(_in_one_line(finding.title))}"
            if finding.location
            else markup.text(_in_one_line(finding.title))
            for finding in findings
        ]
    )
    if left_out := total - len(findings):
        yield ngettext("And %(count)s more finding.", "And %(count)s more findings.", left_out) % {
            "count": number_format(left_out)
        }


def _section(heading: str, text: str, markup: Markup) -> Iterator[str]:
    if text:
        yield markup.heading(heading)
        yield markup.text(text)


def _evidence(finding: Finding, markup: Markup) -> Iterator[str]:
    if finding.evidence:
        yield markup.heading(_("Evidence"))
        yield markup.block(finding.evidence)
        if finding.evidence_truncated:
            yield _("Only the beginning of the evidence is shown.")


def _left_out(count: int) -> Iterator[str]:
    if count > 0:
        yield ngettext("And %(count)s more location.", "And %(count)s more locations.", count) % {
            "count": count
        }


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
