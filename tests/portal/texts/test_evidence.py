"""Evidence in parts, with the proof marked."""

import pytest

from portal.texts.evidence import beginning, evidence_parts


def parts(text):
    return [(str(part.label), str(part.html)) for part in evidence_parts(text)]


def test_the_proof_is_marked_in_request_and_response():
    text = (
        "Parameter: q\n\nAttack:\n<svg onload=1>\n\nEvidence:\n<svg\n\n"
        "Request:\nGET /?q=%3Csvg%20onload%3D1%3E HTTP/1.1\nHost: shop.example.com\n\n"
        "Response:\nHTTP/1.1 200 OK\n\n<p><svg onload=1></p>"
    )
    assert parts(text) == [
        ("", "Parameter: q"),
        ("Attack", "&lt;svg onload=1&gt;"),
        ("Proof", "&lt;svg"),
        ("Request", "GET /?q=<mark>%3Csvg%20onload%3D1%3E</mark> HTTP/1.1\nHost: shop.example.com"),
        ("Response", "HTTP/1.1 200 OK\n\n&lt;p&gt;<mark>&lt;svg onload=1&gt;</mark>&lt;/p&gt;"),
    ]


def test_messages_without_headings_are_recognised():
    text = "GET /.git/config HTTP/1.1\nHost: shop.example.com\n\nHTTP/1.1 200 OK\n[core]"
    assert parts(text) == [
        ("Request", "GET /.git/config HTTP/1.1\nHost: shop.example.com"),
        ("Response", "HTTP/1.1 200 OK\n[core]"),
    ]


def test_other_evidence_stays_as_it_is():
    assert parts("TLS 1.1 offered\n\n<b>") == [("", "TLS 1.1 offered\n\n&lt;b&gt;")]
    assert parts("") == []


@pytest.mark.parametrize(
    ("text", "long"),
    [("line\n" * 20, False), ("line\n" * 21, True), ("x" * 1_600, False), ("x" * 1_601, True), ("", False)],
)
def test_a_text_of_more_than_twenty_lines_is_folded(text, long):
    assert [part.is_long for part in evidence_parts(text)] == ([long] if text else [])
    assert (beginning(text) == text) is not long
    assert len(beginning(text).splitlines()) <= 20


def test_short_texts_mark_nothing():
    assert not any(part.has_mark for part in evidence_parts("Evidence:\na\n\nResponse:\nHTTP/1.1 200 OK\na"))


def test_only_the_first_lines_of_a_long_proof_are_looked_for():
    lines = [f"line {number:03}" for number in range(1000)]
    text = "Evidence:\n{}\n\nResponse:\nHTTP/1.1 200 OK\n{}"
    marked = {line: parts(text.format("\n".join(lines), line))[1][1] for line in ("line 007", "line 999")}
    assert "<mark>line 007</mark>" in marked["line 007"]
    assert "<mark>" not in marked["line 999"]
