"""A finding or problem to share: as Markdown, as an e-mail, or as a new issue."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from django.utils.formats import number_format
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from foundation.addresses.hosts import readable_host
from portal.models import IssueTracker
from portal.pages.forms import Filters, ShareListForm
from portal.pages.view_models.finding import present_in, reference, weaknesses
from portal.pages.view_models.findings import common_description, how_to_check, kind_label, status_label
from portal.texts import issue_trackers, labels
from portal.texts.issue_trackers import cut_to_length
from portal.texts.stacks import fixes_by_stack
from signed_api.findings import DashboardResponse, FindingDetail, Threat

MAX_LOCATIONS = 20  # also of findings, references and classifications
MAX_TEXTS = 5  # different descriptions, or fixes, in the text about a problem
# Some mail programs refuse longer URLs.
MAX_MAIL_URL_LENGTH = 1_900
MAX_SUBJECT_LENGTH = 150

# Markup of trackers, by alternatives:
# - a URL of a host and a path, up to its last character that is no punctuation;
# - a commit: 7 to 64 hexadecimal digits, with both digits and letters;
# - the sign before a person or an issue: "@", "#", "!" or "GH-", the first and last not after a letter;
# - any other character of Markdown.
_MARKUP = re.compile(
    r"""(?P<link>(?<!\S)https?://(?:[a-z0-9-]+\.)+[a-z]+(?::\d+)?/(?:[^\s<>]*[^\s<>.,;:!?'")\]])?)
    |(?P<commit>(?<!\w)(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}(?!\w))
    |(?P<sign>(?<!\w)@(?=[\w.])|[#!](?=[0-9])|(?<!\w)GH-(?=[0-9]))
    |[\\`*_\[\]<>#|~!&]""",
    re.ASCII | re.VERBOSE,
)
# A "/" that begins a line, after spaces: a command in GitLab. \s would scan blank lines in quadratic time.
_QUICK_ACTION = re.compile(r"^([^\S\n]*)/", re.MULTILINE)
_WIKI = re.compile(r"(\\?)(!(?=\S)|[\[{])")  # characters that start markup in Jira, perhaps after a backslash
_NOT_IN_URL = re.compile(r"[<>\s\x00-\x1f\x7f]")
_WORD_JOINER = "\u2060"  # invisible; separates two characters that together would be markup
_BACKTICKS = re.compile("`+")


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueLink:
    """A link to a new issue; ``is_cut`` if the issue's text is incomplete."""

    tracker: str
    url: str
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareOffer:
    """The form that creates a share link, and its URL; only for owners and managers."""

    url: str
    form: ShareListForm


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """The ways to share a finding or problem; a share link only for owners and managers."""

    mail_url: str
    markdown: str = ""
    issue: IssueLink | None = None
    share: ShareOffer | None = None


@dataclass(frozen=True, slots=True)
class Lead:
    """A link to all details, in a shared text; share links open without an account, others need a sign-in."""

    url: str
    is_share_link: bool

    @property
    def label(self) -> str:
        """The words before the link."""
        return _("All details") if self.is_share_link else _("All details (sign-in needed)")


def hand_over(finding: FindingDetail, *, host: str, link: Lead, tracker: IssueTracker | None) -> HandOver:
    """Return the ways to share ``finding``; every text contains ``link``."""
    return HandOver(
        markdown=as_markdown(finding, host=host, link=link),
        mail_url=mail_url(finding, host=host, link=link),
        issue=issue_link(finding, tracker, host=host, link=link) if tracker else None,
    )


def as_markdown(finding: FindingDetail, *, host: str, link: Lead) -> str:
    """Return the whole finding as Markdown; its texts cannot become images, mentions or HTML."""
    markup = Markdown()
    blocks = [
        f"# {markup.text(finding.title)}",
        *_facts(finding, markup, host=host, link=link),
        *_advice(finding, markup, shows_evidence=True),
        *_evidence(finding, markup),
    ]
    return "\n\n".join(blocks) + "\n"


def hand_over_problem(
    dashboard: DashboardResponse,
    *,
    title: str,
    filters: Filters,
    fix: str,
    link: Lead,
    tracker: IssueTracker | None,
) -> HandOver:
    """Return the ways to share all findings of the problem in ``filters``; every text contains ``link``.

    ``fix`` is the fix in one line, and the only one in the short e-mail.
    """
    texts = _ProblemTexts(
        dashboard=dashboard, problem=filters.problem, status=filters.status, fix=fix, link=link
    )
    heading = f"# {Markdown().text(_in_one_line(title))}"
    issue_blocks = [
        *texts.facts(_markup_of(tracker)),
        *texts.advice(_markup_of(tracker), shows_evidence=False),
    ]
    markdown = [*texts.facts(Markdown()), *texts.advice(Markdown(), shows_evidence=True)]
    markdown += texts.evidence(Markdown())
    return HandOver(
        markdown="\n\n".join([heading, *markdown]) + "\n",
        mail_url=_problem_mail_url(texts, title=title),
        issue=_issue_link(title, issue_blocks, tracker) if tracker else None,
    )


def _problem_mail_url(texts: "_ProblemTexts", *, title: str) -> str:
    """Return a mailto: link with as many findings as fit, and the number of the others."""
    subject, markup = f"{title} ({readable_host(texts.dashboard.host)})", Plain()
    start = [title, *texts.facts(markup), *_section(_("How to fix it"), texts.fix, markup)]
    examples = [*_examples(texts.problem, markup)]
    # Shorter and shorter texts: fewer findings, then no examples, and at last one finding without examples.
    with_examples = [(examples, count) for count in range(len(texts.findings), 0, -1)]
    for shown_examples, count in [*with_examples, ([], len(texts.findings)), ([], 1)]:
        blocks = [*start, *shown_examples, *texts.locations(markup, count)]
        url_start, body = _mail_parts(subject, blocks)
        url = url_start + quote(body, safe="")
        if len(url) <= MAX_MAIL_URL_LENGTH:
            return url
    return _mail_url(subject, start)


def mail_url(finding: FindingDetail, *, host: str, link: Lead) -> str:
    """Return a mailto: link with the finding's facts and its fix."""
    markup = Plain()
    subject = f"[{labels.label(labels.SEVERITIES, finding.severity)}] {finding.title} ({readable_host(host)})"
    fix = _section(_("How to fix it"), finding.remediation, markup)
    return _mail_url(subject, [finding.title, *_facts(finding, markup, host=host, link=link), *fix])


def _mail_url(subject: str, blocks: Iterable[str]) -> str:
    """Return a mailto: link; a body that is too long is cut."""
    url_start, body = _mail_parts(subject, blocks)
    return url_start + quote(cut_to_length(body, MAX_MAIL_URL_LENGTH - len(url_start)), safe="")


def _mail_parts(subject: str, blocks: Iterable[str]) -> tuple[str, str]:
    """Return the mailto: link up to its body, and the unquoted body."""
    url_start = f"mailto:?subject={_quoted_subject(subject)}&body="
    return url_start, "\n\n".join(blocks).replace("\n", "\r\n")


def list_mail_url(title: str, *, host: str, link: str) -> str:
    """Return a mailto: link with the link to a list of findings."""
    subject = _quoted_subject(f"{title} ({readable_host(host)})")
    return f"mailto:?subject={subject}&body={quote(link, safe='')}"


def _quoted_subject(subject: str) -> str:
    return quote(Truncator(_in_one_line(subject)).chars(MAX_SUBJECT_LENGTH), safe="")


def issue_link(finding: FindingDetail, tracker: IssueTracker, *, host: str, link: Lead) -> IssueLink:
    """Return the link to a new issue in ``tracker``; evidence is left out, as it may be confidential."""
    markup = _markup_of(tracker)
    blocks = [*_facts(finding, markup, host=host, link=link)]
    blocks += _advice(finding, markup, shows_evidence=False)
    return _issue_link(finding.title, blocks, tracker)


def _issue_link(title: str, blocks: Iterable[str], tracker: IssueTracker) -> IssueLink:
    url, is_cut = issue_trackers.new_issue_url(
        tracker.kind, tracker.url, title=_in_one_line(title), body="\n\n".join(blocks)
    )
    return IssueLink(tracker=issue_trackers.NAMES[tracker.kind], url=url, is_cut=is_cut)


class Plain:
    """Plain text; the base of other markups."""

    def text(self, text: str) -> str:
        """Format a text of the finding."""
        return text

    def code(self, text: str) -> str:
        """Format code within a line."""
        return text

    def block(self, text: str) -> str:
        """Format lines of code."""
        return text

    def heading(self, text: str) -> str:
        """Format a heading."""
        return text.upper()

    def fact(self, name: str, value: str) -> str:
        """Format a name with a formatted value."""
        return f"{name}: {value}"

    def url(self, url: str) -> str:
        """Format a URL."""
        return url


class Markdown(Plain):
    """Markdown as GitHub and GitLab read it."""

    def text(self, text: str) -> str:
        """Escape markup, mentions, references, and lines that GitLab reads as commands."""
        return _QUICK_ACTION.sub(r"\1\\/", _MARKUP.sub(self._escaped, text))

    def _escaped(self, found: re.Match[str]) -> str:
        """Return a link in brackets, a digest as code, or escaped characters."""
        if found["link"]:
            return self.url(found[0])
        if found["commit"]:
            return self.code(found[0])
        if found["sign"]:
            escape = "\\" if found[0] in "#!" else ""
            return f"{escape}{found[0]}{_WORD_JOINER}"
        return f"\\{found[0]}"

    def code(self, text: str) -> str:
        """Format code within a line, in more backticks than the code contains."""
        fence = "`" * (_longest_run(text) + 1)
        space = " " if "`" in text else ""
        return f"{fence}{space}{_in_one_line(text)}{space}{fence}"

    def block(self, text: str) -> str:
        """Format lines of code in a fence longer than any in the code."""
        fence = "`" * max(3, _longest_run(text) + 1)
        return f"{fence}text\n{text}\n{fence}"

    def heading(self, text: str) -> str:
        """Format a heading of the second level."""
        return f"## {text}"

    def fact(self, name: str, value: str) -> str:
        """Format a name with a formatted value as a list item."""
        return f"- **{name}:** {value}"

    def url(self, url: str) -> str:
        """Format a URL as a link; its own brackets and spaces are quoted."""
        return f"<{_NOT_IN_URL.sub(lambda found: quote(found[0], safe=''), url)}>"


class Wiki(Plain):
    """Jira's wiki markup, in which "!address!" is an image and "[~name]" a mention."""

    def text(self, text: str) -> str:
        """Escape characters that start markup; the text's own backslash must not escape our backslash."""
        return _WIKI.sub(lambda found: (f"\\{_WORD_JOINER}" if found[1] else "") + "\\" + found[2], text)

    def code(self, text: str) -> str:
        """Format code as text."""
        return self.text(text)

    def url(self, url: str) -> str:
        """Format a URL; characters that start markup are quoted."""
        return _WIKI.sub(lambda found: quote(found[0], safe=""), url)


Markup = Plain  # the type of any markup


def _markup_of(tracker: IssueTracker | None) -> Markup:
    """Return the markup of the tracker's form for issues."""
    return Wiki() if tracker and tracker.kind == "jira" else Markdown()


def _facts(finding: FindingDetail, markup: Markup, *, host: str, link: Lead) -> Iterator[str]:
    """Yield one block with the facts."""
    values = {
        _("Severity"): labels.label(labels.SEVERITIES, finding.severity),
        _("Status"): status_label(finding),
        _("Confidence"): kind_label(finding),
        _("Website"): markup.code(host),
        _("Where it was found"): markup.code(finding.location) if finding.location else "",
        _("Found by"): markup.text(finding.source_name or finding.source),
        _("Classification"): markup.text(", ".join(each.text for each in weaknesses(finding))),
        link.label: markup.url(link.url),
    }
    yield "\n".join(markup.fact(name, value) for name, value in values.items() if value)


def _advice(finding: FindingDetail, markup: Markup, *, shows_evidence: bool) -> Iterator[str]:
    """Yield the description, the fix and its check, further locations, and references."""
    yield from _section(_("What it is"), finding.description, markup)
    yield from _section(_("How to fix it"), finding.remediation, markup)
    yield from _examples(finding.problem, markup)
    check = how_to_check([finding], shows_evidence=shows_evidence)
    yield from _section(_("How to check the fix"), check, markup)
    present = [entry.location for entry in present_in(finding.locations)]
    others = [location for location in present if location != finding.location]
    if others:
        yield markup.heading(_("More locations"))
        yield _bullet_list([markup.code(location) for location in others[:MAX_LOCATIONS]])
    left_out = finding.locations_count - 1 - min(len(others), MAX_LOCATIONS)  # the facts have the first one
    if left_out > 0:
        text = ngettext("And %(count)s more location.", "And %(count)s more locations.", left_out)
        yield text % {"count": number_format(left_out)}
    yield from _read_more(finding.references, markup)


def _examples(problem: str, markup: Markup) -> Iterator[str]:
    """Yield the fixes by stack."""
    for fix in fixes_by_stack(problem):
        yield f"{fix.stack}:"
        yield markup.block(fix.code)


def _read_more(references: Iterable[str], markup: Markup) -> Iterator[str]:
    if urls := [found.url for found in map(reference, references) if found]:
        yield markup.heading(_("Read more"))
        yield _bullet_list([markup.url(url) for url in urls])


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProblemTexts:
    """The blocks of the text about all findings of one problem."""

    dashboard: DashboardResponse
    problem: str
    fix: str
    link: Lead
    status: str

    @property
    def findings(self) -> Sequence[Threat]:
        """The listed findings: the first MAX_LOCATIONS."""
        return self.dashboard.threats[:MAX_LOCATIONS]

    def facts(self, markup: Markup) -> Iterator[str]:
        """Yield one block with the facts."""
        findings = self.findings
        worst = min(findings, key=lambda finding: labels.severity_rank(finding.severity)).severity
        sources = unique(finding.source_name or finding.source for finding in findings)
        classes = unique(each.text for finding in findings for each in weaknesses(finding))
        values = {
            _("Severity"): labels.label(labels.SEVERITIES, worst),
            _("Status"): self._status(),
            _("Website"): markup.code(self.dashboard.host),
            _("Findings"): number_format(self.dashboard.dashboard.total),
            _("Found by"): markup.text(", ".join(sources)),
            _("Classification"): markup.text(", ".join(classes[:MAX_LOCATIONS])),
            self.link.label: markup.url(self.link.url),
        }
        yield "\n".join(markup.fact(name, value) for name, value in values.items() if value)

    def _status(self) -> str:
        """Return the findings' status, or each status with its count; empty if all are open."""
        page, counts = self.dashboard.dashboard, {self.status or labels.OPEN: 1}  # one status has no number
        if self.status == "all":
            in_facet = {each.value: each.count for each in page.facets.status if each.value != "all"}
            counts = in_facet or Counter(finding.status for finding in self.dashboard.threats)
            if sum(counts.values()) < page.total:  # a search has no counts, and the list has more pages
                counts = {"all": page.total}
        texts = {labels.label(labels.STATUSES, each): count for each, count in counts.items() if count}
        if len(texts) > 1:
            return ", ".join(f"{text} ({number_format(count)})" for text, count in texts.items())
        return "" if counts.get(labels.OPEN) else next(iter(texts), "")

    def advice(self, markup: Markup, *, shows_evidence: bool) -> Iterator[str]:
        """Yield descriptions, fixes and their check, locations, and references."""
        common = common_description(self.findings)
        descriptions = [common] if common else [each.description for each in self.findings]
        yield from _sections(_("What it is"), descriptions, markup)
        yield from _sections(_("How to fix it"), self._fixes(), markup)
        yield from _examples(self.problem, markup)
        check = how_to_check(self.findings, shows_evidence=shows_evidence)
        yield from _section(_("How to check the fix"), check, markup)
        yield from self.locations(markup, len(self.findings))
        references = unique(url for finding in self.findings for url in finding.references)
        yield from _read_more(references[:MAX_LOCATIONS], markup)

    def _fixes(self) -> list[str]:
        """Return the fix in one line, unless a scanner's fix starts with it, and the scanners' fixes."""
        fixes = [finding.remediation for finding in self.findings]
        start = self.fix.removesuffix("…")
        return fixes if any(_in_one_line(fix).startswith(start) for fix in fixes) else [self.fix, *fixes]

    def locations(self, markup: Markup, count: int) -> Iterator[str]:
        """Yield the locations of the first ``count`` findings, and the number of other findings."""
        yield markup.heading(_("Where it was found"))
        yield _bullet_list([_location_line(finding, markup) for finding in self.findings[:count]])
        if left_out := self.dashboard.dashboard.total - count:
            text = ngettext(
                "And %(count)s more finding: %(link)s", "And %(count)s more findings: %(link)s", left_out
            )
            yield text % {"count": number_format(left_out), "link": markup.url(self.link.url)}

    def evidence(self, markup: Markup) -> Iterator[str]:
        """Yield each finding's evidence."""
        proven = [finding for finding in self.findings if finding.evidence]
        if proven:
            yield markup.heading(_("Evidence"))
        for finding in proven:
            yield _location_line(finding, markup)
            yield markup.block(finding.evidence)
            if finding.evidence_truncated:
                yield _("Only the beginning of the evidence is shown.")


def _location_line(finding: Threat, markup: Markup) -> str:
    """Return location, title, status unless open, and number of further locations, in one line."""
    title = markup.text(_in_one_line(finding.title))
    text = f"{markup.code(finding.location)}: {title}" if finding.location else title
    status = status_label(finding)
    remarks = [status] if status else []
    if (others := finding.locations_count - 1) > 0:
        more = ngettext("%(count)s more location", "%(count)s more locations", others)
        remarks.append(more % {"count": number_format(others)})
    return f"{text} ({', '.join(remarks)})" if remarks else text


def _sections(heading: str, texts: Iterable[str], markup: Markup) -> Iterator[str]:
    """Yield a heading and at most MAX_TEXTS distinct texts."""
    if different := unique(texts)[:MAX_TEXTS]:
        yield markup.heading(heading)
        yield from map(markup.text, different)


def unique(values: Iterable[str]) -> list[str]:
    """Return the distinct non-empty ``values`` in their order."""
    return [value for value in dict.fromkeys(values) if value]


def _section(heading: str, text: str, markup: Markup) -> Iterator[str]:
    if text:
        yield markup.heading(heading)
        yield markup.text(text)


def _evidence(finding: FindingDetail, markup: Markup) -> Iterator[str]:
    if finding.evidence:
        yield markup.heading(_("Evidence"))
        yield markup.block(finding.evidence)
        if finding.evidence_truncated:
            yield _("Only the beginning of the evidence is shown.")


def _bullet_list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
