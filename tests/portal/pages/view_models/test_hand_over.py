"""A finding and a problem as Markdown, as an e-mail and as a new issue."""

import html
import os
import re
import shutil
import subprocess
import time
from datetime import UTC, datetime
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
import pytest
from markdown_it import MarkdownIt

from portal.models import IssueTracker
from portal.pages.forms import Filters
from portal.pages.view_models.findings import how_to_check
from portal.pages.view_models.hand_over import (
    MAX_MAIL_URL_LENGTH,
    MAX_SUBJECT_LENGTH,
    Lead,
    as_markdown,
    hand_over,
    hand_over_problem,
    issue_link,
    mail_url,
)
from signed_api.findings import Location
from tests.portal.dashboards import make_dashboard, make_facets, make_finding, make_page, make_threat
from tests.structs import build

HOST = "shop.example.com"
PAGE = "https://portal.example.com/sites/shop.example.com/findings/1/"
SHARED = Lead("https://portal.example.com/s/token/", is_share_link=True)
FOR_MEMBERS = Lead(PAGE, is_share_link=False)
FULL = make_finding(
    title="SQL injection",
    description="The parameter is not escaped.",
    remediation="Use bound parameters.",
    evidence="GET /?id=1'",
    references=["https://example.com/advice", "javascript:alert(1)"],
    cwe=[89],
    cve=["CVE-2024-12345"],
    locations_count=40,
    locations=[
        build(Location, location=f"https://shop.example.com/page/{number}") for number in range(1, 31)
    ],
)


def markdown(**fields):
    return as_markdown(make_finding(**fields), host=HOST, link=SHARED)


def rendered(text):
    """Return the HTML that a reader of Markdown makes of ``text``, raw HTML included."""
    return MarkdownIt("commonmark", {"html": True}).enable("strikethrough").enable("table").render(text)


def tracker(kind, url):
    return IssueTracker(kind=kind, url=url)


def mail_fields(url):
    parts = urlsplit(url)
    assert parts.scheme == "mailto"
    fields = parse_qs(parts.query)
    return fields["subject"][0], fields["body"][0]


def test_markdown_has_the_whole_finding():
    text = as_markdown(FULL, host=HOST, link=SHARED)
    assert text.startswith("# SQL injection\n\n- **Severity:** High\n- **Confidence:** Confirmed\n")
    assert "- **Website:** `shop.example.com`\n" in text
    assert "- **Where it was found:** `https://shop.example.com/page/1`\n" in text
    assert "- **Classification:** CVE-2024-12345, CWE-89\n" in text
    assert f"- **All details:** <{SHARED.url}>" in text
    assert "## What it is\n\nThe parameter is not escaped.\n" in text
    assert "## How to fix it\n\nUse bound parameters.\n" in text
    assert "- `https://shop.example.com/page/21`\n\nAnd 19 more locations.\n" in text
    assert "page/22" not in text
    assert "- <https://example.com/advice>" in text
    assert "javascript" not in text
    assert "```text\nGET /?id=1'\n```" in text


def test_a_location_that_is_gone_is_no_work_for_anyone_who_gets_the_finding():
    locations = [
        build(Location, location=f"https://shop.example.com/{name}") for name in ("here", "there", "gone")
    ]
    locations[2] = msgspec.structs.replace(locations[2], gone_at=datetime(2026, 3, 1, tzinfo=UTC))
    found = make_finding(location="https://shop.example.com/here", locations_count=2, locations=locations)
    text = as_markdown(found, host=HOST, link=FOR_MEMBERS)
    assert "## More locations\n\n- `https://shop.example.com/there`\n" in text
    assert "gone" not in text
    assert "more location" not in text
    found = msgspec.structs.replace(found, locations_count=90)
    assert "And 88 more locations." in as_markdown(found, host=HOST, link=FOR_MEMBERS)


def test_markdown_and_issues_say_how_to_check_the_fix():
    by_nuclei = "The next complete scan by Nuclei shows whether the fix worked."
    assert (
        "## How to check the fix\n\nTest it yourself first: what the evidence shows must be gone. "
        + by_nuclei
    ) in as_markdown(FULL, host=HOST, link=SHARED)
    issue = unquote(issue_link(FULL, tracker("github", "https://github.com/o/r"), host=HOST, link=SHARED).url)
    assert f"{by_nuclei} The evidence is left out here." in issue
    assert f"check the fix\n\n{by_nuclei}\n" in markdown(evidence="") + "\n"


def test_the_fixes_of_several_scanners_are_checked_by_all_of_them():
    threats = [
        make_threat(1),
        make_threat(2, source="zap", source_name="ZAP"),
        make_threat(3, status="fixed"),
    ]
    text = "The next complete scans by Nuclei, ZAP show whether the fix worked."
    assert how_to_check(threats, shows_evidence=True) == text


def test_absent_parts_leave_no_heading():
    text = markdown(rule="", references=[])
    assert text.count("##") == 1  # how to check the fix


@pytest.mark.parametrize(
    "words",
    [
        "<img src=x onerror=alert(1)>",
        "![x](https://evil.example/x.png)",
        "[click](https://evil.example/)",
        "`code` *em* _em_ **strong** ~~gone~~",
        "# heading",
        "| a | b |\n|---|---|\n| c | d |",
        "&lt;b&gt;",
        "\\<b>",
    ],
)
def test_no_text_of_a_finding_becomes_markup(words):
    page = rendered(markdown(title="A", description=words))
    paragraph = re.search(r"<h2>What it is</h2>\n<p>(.*?)</p>", page, re.DOTALL)[1]
    assert "<" not in paragraph
    shown = paragraph.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace("&quot;", '"')
    assert shown == words


@pytest.mark.parametrize(
    "after",
    [">![x](https://evil.example/x.png)", "><img/src=https://evil.example>", "`", "\\>@robin", " # x"],
)
def test_no_address_of_a_finding_becomes_markup(after):
    page = rendered(markdown(references=[f"https://example.com/{after}"]))
    link = re.search(r"<h2>Read more</h2>\n<ul>\n<li>(.*)</li>", page)[1]
    assert re.fullmatch(r'<a href="https://example\.com/[^"]*">[^<]*</a>', link)


def test_nobody_is_mentioned_and_no_command_is_given():
    text = markdown(description="Hello @robin\n/close\n  /assign @robin\nadmin@example.com")
    assert "@robin" not in text
    assert not re.search(r"^\s*/", text, re.MULTILINE)
    assert "admin@example.com" in text


@pytest.mark.parametrize("before", ["/", ".", "./", "-", "(", "ä ", "https://", "x https:///", "ftp://a/"])
def test_nobody_is_mentioned_after_a_slash_or_a_full_stop(before):
    assert f"{before}@\u2060all" in markdown(description=f"See {before}@all")


def as_github(text):
    """Return the text of GitHub's Markdown without its links and code, which refer to nothing."""
    if shutil.which("cmark-gfm") is None:
        without = pytest.fail if os.environ.get("REQUIRE_CMARK") == "1" else pytest.skip
        without("cmark-gfm is not installed (Debian: apt install cmark-gfm)")
    extensions = ["-e", "autolink", "-e", "table", "-e", "strikethrough", "-e", "tasklist"]
    command = ["cmark-gfm", "--unsafe", *extensions]
    page = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    shown = re.sub(r"<(a|code)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"<(?!/?(h[12]|p|ul|li|strong|pre|br)\b)", shown), shown
    return html.unescape(re.sub("<[^>]*>", "", shown))


@pytest.mark.parametrize(
    "words",
    [
        "https://a.bc/<@octocat", "https://a.bc/@x <@octocat", "https://a.bc/\\<@octocat",
        "www.a.bc/<@octocat>",
        "HTTPS://A.bc/<@octocat", "https://a.bc/`@octocat`", "https://a.bc/ @octocat", "https://a.bc/)@octocat",
        "https://a.bc/&lt;@octocat", "mailto:<@octocat", "@octocat/team", "[@octocat](https://a.bc/)",
        "https://a.bc/@x.<@octocat", "<https://a.bc/>@octocat", "~@octocat~", "\\@octocat", "&#64;octocat",
        "x <!-- @octocat -->", "owner/repo#12", "#12", "GH-12", "\\#12", "!12", "&#35;12",
        "a5c3785ed8d6a35868bc169f07e40e889087fd2e", "owner/repo@a5c3785", "a5c3785", "https://a.bc/<a5c3785",
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["title", "description", "remediation"])
def test_no_text_refers_to_a_person_an_issue_or_a_commit_once_it_is_rendered(words, place):
    shown = as_github(markdown(**{place: words}))
    assert not re.search(r"(?<!\w)@\w|[#!]\d|\bGH-\d|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b", shown), (
        shown
    )


def test_a_link_in_a_text_leads_where_it_did():
    text = markdown(description="See https://a.bc/some_page?a=1&b=*2#x, then https://a.bc/.")
    assert "See <https://a.bc/some_page?a=1&b=*2#x>, then <https://a.bc/>." in text


def test_a_link_with_an_at_sign_still_opens():
    link = "https://unpkg.com/@scope/package"
    assert link in markdown(description=f"Update {link} now.")


def test_no_text_of_a_finding_becomes_markup_of_jira():
    """Jira reads "!address!" as an image, "[~name]" as a mention and "{name}" as a macro."""
    words = "!https://evil.example/x.png! [~robin] {color:red} Stop! a[0] \\[~b]"
    jira = tracker("jira", "https://j.example/secure/CreateIssueDetails!init.jspa?pid=1&issuetype=1")
    finding = make_finding(
        description=words, location=words, references=["https://example.com/!https://evil.example/x.png!"]
    )
    url = issue_link(finding, jira, host=HOST, link=SHARED).url
    [body] = parse_qs(urlsplit(url).query)["description"]
    safe = "\\!https://evil.example/x.png! \\[~robin] \\{color:red} Stop! a\\[0] \\\u2060\\[~b]"
    assert body.count(safe) == 2
    assert "https://example.com/%21https://evil.example/x.png" in body
    assert not re.search(r"(?<!\\)[!\[{]\w", body)


def test_blank_lines_take_no_time():
    began = time.process_time()
    text = markdown(description="a" + "\n" * 32_000 + "x\n/close")
    assert time.process_time() - began < 1
    assert "\n\\/close" in text


def test_code_ends_where_it_should():
    text = markdown(evidence="a\n```\n# b\n````\nc", location="x``y`")
    assert "`````text\na\n```\n# b\n````\nc\n`````" in text
    assert "``` x``y` ```" in text


def test_an_email_says_what_where_and_how_to_fix_it():
    subject, body = mail_fields(mail_url(FULL, host=HOST, link=SHARED))
    assert subject == "[High] SQL injection (shop.example.com)"
    assert "Where it was found: https://shop.example.com/page/1\r\n" in body
    assert f"All details: {SHARED.url}" in body
    assert "HOW TO FIX IT\r\n\r\nUse bound parameters." in body
    assert "GET /?id" not in body


def test_a_subject_that_is_cut_says_so():
    subject, _body = mail_fields(
        mail_url(msgspec.structs.replace(FULL, title="Long " * 60), host=HOST, link=SHARED)
    )
    assert len(subject) == MAX_SUBJECT_LENGTH
    assert subject.endswith("…")


def test_no_text_adds_a_recipient_or_a_header_to_the_email():
    url = mail_url(make_finding(title="A&cc=evil@example.com\r\nBcc: x?"), host=HOST, link=SHARED)
    assert set(parse_qs(urlsplit(url).query)) == {"subject", "body"}
    assert urlsplit(url).path == ""
    assert "\n" not in mail_fields(url)[0]


def test_an_issue_says_that_an_analyst_confirmed_the_finding():
    assert "**Confidence:** Verified by an analyst" in markdown(verified=True)
    assert "**Confidence:** Confirmed" in markdown()


def test_a_long_email_is_cut():
    url = mail_url(make_finding(remediation="ü" * 9_999), host=HOST, link=SHARED)
    assert len(url) <= MAX_MAIL_URL_LENGTH
    assert mail_fields(url)[1].endswith("…")


@pytest.mark.parametrize(
    ("kind", "url", "name", "text"),
    [
        ("github", "https://github.com/a/b", "body", "## How to fix it\n\nUse bound"),
        ("gitlab", "https://gitlab.com/a/b", "issue[description]", "## How to fix it\n\nUse bound"),
        ("jira", "https://j.example/secure/CreateIssueDetails!init.jspa?pid=1&issuetype=1", "description",
         "HOW TO FIX IT\n\nUse bound"),
    ],
)  # fmt: skip
def test_an_issue_has_title_and_text_without_evidence(kind, url, name, text):
    link = issue_link(FULL, tracker(kind, url), host=HOST, link=SHARED)
    body = parse_qs(urlsplit(link.url).query)[name][0]
    assert text in body
    assert SHARED.url in body
    assert "GET /?id" not in body
    assert not link.is_cut


def test_a_cut_issue_says_so_and_keeps_its_link():
    finding = make_finding(description="x" * 9_999)
    link = issue_link(finding, tracker("github", "https://github.com/a/b"), host=HOST, link=SHARED)
    assert link.is_cut
    assert SHARED.url in parse_qs(urlsplit(link.url).query)["body"][0]


def test_without_a_tracker_there_is_no_issue():
    assert hand_over(FULL, host=HOST, link=SHARED, tracker=None).issue is None


def problem_as_markdown(*threats, total=None, link=SHARED, tracker=None, status="", counts=()):
    page = make_page(total=total or len(threats), facets=make_facets(status=dict(counts)))
    dashboard = make_dashboard(threats=list(threats), dashboard=page)
    return hand_over_problem(
        dashboard,
        title="TLS 1.0 is offered",
        filters=Filters(problem="tls-1-0-offered", status=status),
        fix="Turn TLS 1.0 off.",
        link=link,
        tracker=tracker,
    )


def test_a_problem_is_handed_over_with_its_fix_its_places_and_lines_for_each_stack():
    threats = [make_threat(1, severity="Medium", title="*one*"), make_threat(2, severity="High", location="")]
    text = problem_as_markdown(*threats, total=32).markdown
    assert text.startswith("# TLS 1.0 is offered\n\n- **Severity:** High\n- **Website:** `shop.example.com`")
    assert f"- **Findings:** 32\n- **Found by:** Nuclei\n- **All details:** <{SHARED.url}>" in text
    assert "## How to fix it\n\nTurn TLS 1.0 off.\n" in text
    assert "nginx:\n\n```text\nssl_protocols TLSv1.2 TLSv1.3;\n```" in text
    assert "- `https://shop.example.com/page/1`: \\*one\\*\n- Finding 2\n" in text
    assert f"And 30 more findings: <{SHARED.url}>" in text


def test_a_link_that_needs_a_sign_in_says_so():
    ways = hand_over(FULL, host=HOST, link=FOR_MEMBERS, tracker=tracker("github", "https://github.com/a/b"))
    assert f"- **All details (sign-in needed):** <{PAGE}>" in ways.markdown
    assert f"All details (sign-in needed): {PAGE}" in mail_fields(ways.mail_url)[1]
    assert "All details (sign-in needed)" in parse_qs(urlsplit(ways.issue.url).query)["body"][0]
    assert (
        f"- **All details (sign-in needed):** <{PAGE}>"
        in problem_as_markdown(make_threat(), link=FOR_MEMBERS).markdown
    )


WHOLE = {
    "description": "TLS 1.0 has known weaknesses.",
    "remediation": "Offer TLS 1.2 only.",
    "references": ["https://example.com/tls", "javascript:alert(1)"],
    "cwe": [326],
    "cve": ["CVE-2011-3389"],
    "evidence": "TLSv1.0 offered",
    "source_name": "testssl.sh",
}


def test_the_markdown_of_a_problem_has_as_much_as_that_of_a_finding():
    threats = [
        make_threat(1, **WHOLE, locations_count=3),
        make_threat(2, **WHOLE | {"evidence": "TLS 1.0: yes", "evidence_truncated": True}),
    ]
    text = problem_as_markdown(*threats).markdown
    assert "- **Found by:** testssl.sh\n- **Classification:** CVE-2011-3389, CWE-326\n" in text
    assert text.count("## What it is\n\nTLS 1.0 has known weaknesses.\n") == 1
    assert "## How to fix it\n\nTurn TLS 1.0 off.\n\nOffer TLS 1.2" in text
    assert "- `https://shop.example.com/page/1`: Finding 1 (2 more locations)\n" in text
    assert "## Read more\n\n- <https://example.com/tls>\n" in text
    assert "javascript" not in text
    assert "## Evidence\n\n`https://shop.example.com/page/1`: Finding 1" in text
    assert "```text\nTLSv1.0 offered\n```" in text
    assert "```text\nTLS 1.0: yes\n```\n\nOnly the beginning of the evidence is shown." in text


def test_texts_that_differ_by_words_of_their_titles_are_in_the_markdown_once():
    threats = [
        make_threat(title=f"Through “{name}”", description=f"The value of “{name}” is run.")
        for name in ("city", "list")
    ]
    text = problem_as_markdown(*threats).markdown
    assert "The value of “…” is run." in text
    assert "“city” is run" not in text


def test_advice_that_a_fix_in_one_line_shortens_is_there_once():
    text = problem_as_markdown(
        make_threat(remediation="Turn TLS 1.0 off. Then restart\nthe server.")
    ).markdown
    assert text.count("Turn TLS 1.0 off.") == 1


def test_an_issue_about_a_problem_has_no_evidence():
    ways = problem_as_markdown(make_threat(**WHOLE), tracker=tracker("github", "https://github.com/a/b"))
    body = parse_qs(urlsplit(ways.issue.url).query)["body"][0]
    assert "TLS 1.0 has known weaknesses." in body
    assert "https://example.com/tls" in body
    assert "TLSv1.0 offered" not in body
    assert "TLSv1.0 offered" not in mail_fields(ways.mail_url)[1]


@pytest.mark.parametrize("path", ["a" * 80, "ü" * 40])
def test_an_email_about_a_problem_says_how_many_findings_it_leaves_out(path):
    threats = [
        make_threat(number, location=f"https://shop.example.com/{number}/{path}") for number in range(10)
    ]
    url = problem_as_markdown(*threats, total=35).mail_url
    _, body = mail_fields(url)
    listed = body.count("\r\n- ")
    assert len(url) <= MAX_MAIL_URL_LENGTH
    assert 0 < listed < 10
    assert body.endswith(f"\r\n\r\nAnd {35 - listed} more findings: {SHARED.url}")


def test_an_email_about_a_problem_lists_all_findings_if_there_is_room():
    _, body = mail_fields(problem_as_markdown(make_threat(1), make_threat(2)).mail_url)
    assert body.count("\r\n- ") == 2
    assert "more finding" not in body


def test_even_an_email_about_a_finding_with_a_long_address_is_not_too_long():
    url = problem_as_markdown(make_threat(location="ü" * 2_000)).mail_url
    assert len(url) <= MAX_MAIL_URL_LENGTH
    assert f"All details: {SHARED.url}" in mail_fields(url)[1]


def test_a_problem_becomes_an_email_and_an_issue():
    ways = problem_as_markdown(make_threat(), tracker=tracker("github", "https://github.com/acme/shop"))
    subject, body = mail_fields(ways.mail_url)
    assert subject == "TLS 1.0 is offered (shop.example.com)"
    assert "Turn TLS 1.0 off." in body
    fields = parse_qs(urlsplit(ways.issue.url).query)
    assert fields["title"] == ["TLS 1.0 is offered"]
    assert "ssl_protocols TLSv1.2 TLSv1.3;" in fields["body"][0]
    jira = "https://acme.atlassian.net/secure/CreateIssueDetails!init.jspa?pid=1&issuetype=2"
    plain = parse_qs(
        urlsplit(problem_as_markdown(make_threat(), tracker=tracker("jira", jira)).issue.url).query
    )
    assert "**" not in plain["description"][0]


@pytest.mark.parametrize(
    ("status", "label"),
    [("fixed", "Fixed"), ("false_positive", "False positive"), ("accepted_risk", "Accepted risk")],
)
def test_every_form_says_that_a_finding_is_not_open(status, label):
    github = tracker("github", "https://github.com/a/b")
    one = hand_over(make_finding(status=status), host=HOST, link=SHARED, tracker=github)
    many = problem_as_markdown(make_threat(status=status), total=32, status=status, tracker=github)
    for ways in (one, many):
        assert f"- **Severity:** High\n- **Status:** {label}\n" in ways.markdown
        assert f"Severity: High\r\nStatus: {label}\r\n" in mail_fields(ways.mail_url)[1]
        assert f"**Status:** {label}\n" in parse_qs(urlsplit(ways.issue.url).query)["body"][0]


def test_open_findings_have_no_status():
    assert "Status" not in markdown()
    for status in ("", "all"):
        assert "Status" not in problem_as_markdown(make_threat(), status=status, counts={"open": 1}).markdown


MIXED = [make_threat(1, locations_count=3), make_threat(2, status="fixed", locations_count=3)]


@pytest.mark.parametrize(
    ("total", "counts", "text"),
    [
        (13, {"open": 10, "fixed": 3, "accepted_risk": 0, "all": 13}, "Open (10), Fixed (3)"),
        (13, {"open": 0, "fixed": 13, "all": 13}, "Fixed"),
        (2, {}, "Open (1), Fixed (1)"),
        (13, {}, "All"),  # a search counts no statuses
    ],
)
def test_findings_of_any_status_are_counted_by_status(total, counts, text):
    ways = problem_as_markdown(*MIXED, total=total, status="all", counts=counts)
    assert f"- **Status:** {text}\n" in ways.markdown


def test_a_list_of_findings_names_those_that_are_not_open():
    text = problem_as_markdown(*MIXED, status="all").markdown
    assert "page/1`: Finding 1 (2 more locations)\n" in text
    assert "page/2`: Finding 2 (Fixed, 2 more locations)\n" in text
