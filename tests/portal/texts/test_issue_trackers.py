"""Addresses of issue trackers, and links to new issues in them."""

from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from portal.texts.issue_trackers import (
    MAX_ISSUE_URL_LENGTH,
    InvalidAddress,
    cut_to_length,
    new_issue_url,
    normalise,
    recognised_kind,
)

JIRA = "https://example.atlassian.net/secure/CreateIssueDetails!init.jspa?pid=10000&issuetype=10001"


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("https://github.com/a/b", "github"),
        ("https://github.example.com/a/b", "github"),
        ("https://gitlab.com/a/b", "gitlab"),
        ("https://gitlab.example.com/a/b", "gitlab"),
        (JIRA, "jira"),
        ("https://jira.example.com/browse/A-1", "jira"),
        ("https://code.example.com/a/b", ""),
        ("https://notgithub.com/a/b", ""),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_the_tracker_is_recognised_by_its_address(address, kind):
    assert recognised_kind(address) == kind


@pytest.mark.parametrize(
    ("kind", "address", "stored"),
    [
        ("github", "https://GitHub.com/a/b", "https://github.com/a/b"),
        ("github", "https://github.com/a/b.git", "https://github.com/a/b"),
        ("github", "https://github.com/a/b/issues/new/choose?x=y#z", "https://github.com/a/b"),
        ("github", "https://code.example.com:8443/a/b/", "https://code.example.com:8443/a/b"),
        ("gitlab", "https://gitlab.com/a/b/c/-/issues", "https://gitlab.com/a/b/c"),
        ("gitlab", "https://gitlab.com/a/b/issues", "https://gitlab.com/a/b"),
        ("jira", JIRA, JIRA),
        ("jira", f"{JIRA}&summary=x", JIRA),
        (
            "jira",
            "https://example.com/jira/secure/CreateIssue.jspa?issuetype=1&pid=2",
            "https://example.com/jira/secure/CreateIssueDetails!init.jspa?pid=2&issuetype=1",
        ),
    ],
)
def test_an_address_is_brought_into_one_form(kind, address, stored):
    assert normalise(kind, address) == stored


@pytest.mark.parametrize("kind", ["github", "gitlab", "jira"])
@pytest.mark.parametrize(
    "address",
    [
        "http://github.com/a/b?pid=1&issuetype=1",
        "javascript:alert(1)//github.com/a/b?pid=1&issuetype=1",
        "https:github.com/a/b?pid=1&issuetype=1",
        "https:///a/b?pid=1&issuetype=1",
        "https://user@github.com/a/b?pid=1&issuetype=1",
        "https://user:password@github.com/a/b?pid=1&issuetype=1",
        "https://github.com:99999/a/b?pid=1&issuetype=1",
        "https://git hub.com/a/b?pid=1&issuetype=1",
        "https://github.com\\@evil.example/a/b?pid=1&issuetype=1",
        "https://github.com/a/b\n?pid=1&issuetype=1",
        "https://gïthub.com/a/b?pid=1&issuetype=1",
        "https://[::1/a/b",
        f"https://github.com/a/{'b' * 500}?pid=1&issuetype=1",
        "https://github.com/",
        "",
    ],
)
def test_other_addresses_are_refused(kind, address):
    with pytest.raises(InvalidAddress):
        normalise(kind, address)


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        ("github", "https://github.com/only-an-owner"),
        ("github", 'https://github.com/a/"><script>'),
        ("github", "https://github.com/../a"),
        ("gitlab", "https://gitlab.com/only-a-group"),
        ("jira", "https://example.atlassian.net/browse/SHOP-1"),
        ("jira", "https://example.atlassian.net/?pid=x&issuetype=1"),
        ("jira", 'https://example.com/"><x/secure/x?pid=1&issuetype=1'),
    ],
)
def test_addresses_without_a_project_are_refused(kind, address):
    with pytest.raises(InvalidAddress):
        normalise(kind, address)


@pytest.mark.parametrize(
    ("kind", "address", "path", "title", "body"),
    [
        ("github", "https://github.com/a/b", "/a/b/issues/new", "title", "body"),
        ("gitlab", "https://gitlab.com/a/b", "/a/b/-/issues/new", "issue[title]", "issue[description]"),
        ("jira", JIRA, "/secure/CreateIssueDetails!init.jspa", "summary", "description"),
    ],
)
def test_the_link_fills_in_title_and_text(kind, address, path, title, body):
    url, is_cut = new_issue_url(kind, address, title="A & B = ü?", body="one\n#two & three")
    parts = urlsplit(url)
    fields = parse_qs(parts.query, strict_parsing=True)
    assert url.startswith(address.partition("?")[0])
    assert parts.path == path
    assert (fields[title], fields[body]) == (["A & B = ü?"], ["one\n#two & three"])
    assert not is_cut


def test_a_long_text_is_cut_to_an_address_that_servers_accept():
    url, is_cut = new_issue_url("github", "https://github.com/a/b", title="ü" * 9_999, body="ü" * 99_999)
    assert len(url) <= MAX_ISSUE_URL_LENGTH
    assert is_cut
    assert unquote(url).endswith("ü…")


@pytest.mark.parametrize(
    ("text", "length", "kept"), [("abc", 3, "abc"), ("a" * 20, 12, "aaa…"), ("üü", 12, "üü")]
)
def test_texts_are_cut_between_characters(text, length, kept):
    assert cut_to_length(text, length) == kept
