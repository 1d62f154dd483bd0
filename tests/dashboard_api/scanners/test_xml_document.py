"""XML by a hostile hand: it is refused with a clear line, and never takes much memory."""

import io
import tracemalloc
from contextlib import suppress

import pytest

from dashboard_api import limits
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.streams import as_text
from dashboard_api.scanners.xml_document import XmlRows, head_pattern, read_xml, text_at

PART = 64 * 1024  # bytes that are read at once
HEADER = b'<?xml version="1.0" encoding="UTF-8"?>\n'
LAUGHS = b"".join(
    b'<!ENTITY l%d "%s">' % (level, b"&l%d;" % (level - 1) * 10 if level else b"ha") for level in range(10)
)
BLOW_UP = b'<!ENTITY a "%s">' % (b"a" * 50_000)


def read(data, *names):
    """Return the text of each row, read one by one."""
    return [
        (row.name, text_at({"": [row.element]}, "")) for row in XmlRows(io.BytesIO(data), row_names=names)
    ]


def refusal(data):
    with pytest.raises(UnreadableReport) as rows:
        list(XmlRows(io.BytesIO(data), row_names=["row"]))
    with pytest.raises(UnreadableReport) as document:
        read_xml(io.BytesIO(data), kept_encoded=["row"])
    assert str(rows.value) == str(document.value)
    return str(rows.value)


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE r [" + LAUGHS + b"]><r>&l9;</r>",
        b"<!DOCTYPE r [" + BLOW_UP + b"]><r>" + b"&a;" * 50_000 + b"</r>",
        b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>&a;</r>',
        b'<!DOCTYPE r [<!ENTITY % a SYSTEM "http://127.0.0.1/a.dtd"> %a;]><r/>',
        b'<!DOCTYPE r SYSTEM "http://127.0.0.1/a.dtd"><r>&a;</r>',
        b'<!DOCTYPE r PUBLIC "a" "a.dtd" [<!ENTITY a "b">]><r/>',
        b'<!DOCTYPE r [<!NOTATION n SYSTEM "n"><!ENTITY a SYSTEM "a" NDATA n>]><r/>',
    ],
)
def test_entities_are_refused_wherever_they_are(data):
    assert refusal(HEADER + data) == "The file contains an XML entity. Entities are not supported."


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<a>" * 10_000 + b"</a>" * 10_000, "nested too deeply"),
        (b"<r>" + b"<a/>" * 200_001 + b"</r>", "more than 200,000 elements outside rows"),
        (b"<r " + b" ".join(b'a%d="1"' % number for number in range(3_000)) + b"/>", "2,000 names"),
        (b"<r>" + b"".join(b"<a%d/>" % number for number in range(3_000)) + b"</r>", "2,000 names"),
        (b"<r a='" + b"a" * 3 * 1024**2 + b"'/>", "tag of more than 2 MB"),
        (b"<r><!--" + b"a" * 3 * 1024**2 + b"--></r>", "tag of more than 2 MB"),
        (b"<!DOCTYPE r [" + b"<!ELEMENT r (a)>" * 50_000 + b"]><r/>", "document type is too long"),
        (
            b"<!DOCTYPE r [<!ATTLIST r "
            + b" ".join(b"a%d CDATA ''" % each for each in range(2_000))
            + b">]><r/>",
            "document type is too long",
        ),
        (b"<r>&undefined;</r>", "not XML: undefined entity"),
        (b"<r>\xff\xfe</r>", "not XML"),
        (b"<r>\x00</r>", "not XML"),
        (b"<r><row></r></row>", "not XML: mismatched tag"),
        (b"<r/><r/>", "not XML"),
        (b"<r><row>1</row>", "cut off"),
        (b"<r><row a='", "cut off"),
        (b"<r><![CDATA[1", "cut off"),
        (b"", "cut off"),
    ],
)
def test_hostile_and_broken_documents_are_refused_with_a_reason(data, reason):
    assert reason in refusal(data)


@pytest.mark.parametrize("encoding", [b"UTF-7", b"utf-16", b"x-none", b"idna", b"base64", b"zlib"])
def test_encodings_that_are_none_of_text_are_refused(encoding):
    message = refusal(b'<?xml version="1.0" encoding="%s"?><r>a</r>' % encoding)
    assert "encoding" in message or "not XML" in message


def test_another_encoding_of_one_byte_is_read():
    data = b'<?xml version="1.0" encoding="iso-8859-1"?><r><row>caf\xe9</row></r>'
    assert read(data, "row") == [("row", "café")]
    with_control = data.replace(b"caf", b"\x02caf\x00")
    assert [row.element for row in XmlRows(as_text(with_control, io.BytesIO()), row_names=["row"])] == [
        {"": ["café"]}
    ]


@pytest.mark.parametrize("shift", range(20))
def test_references_are_read_wherever_a_part_of_the_file_ends(shift):
    padding = b" " * (PART - 20 - len(HEADER) + shift)
    data = HEADER + b"<r>" + padding + b"<row>a&#x2;b&#10;&#65;<![CDATA[&#2;]]>&#2;]]c</row></r>"
    assert read(data, "row") == [("row", "ab\nA&#2;]]c")]


def test_document_type_without_entities_is_read_and_adds_nothing():
    data = b'<!DOCTYPE r [<!ELEMENT r (row*)><!ATTLIST row a CDATA "b">]><r><row c="d">1</row></r>'
    (row,) = XmlRows(io.BytesIO(HEADER + data), row_names=["row"])
    assert row.element == {"@c": ["d"], "": ["1"]}
    other_file = b'<!DOCTYPE r SYSTEM "docs/r.dtd"><r><row>&amp;&#65;</row></r>'
    assert read(HEADER + other_file, "row") == [("row", "&A")]


def test_a_row_knows_what_is_around_it_and_holds_no_row_of_its_own():
    data = b"<r v='1'><host><name>a</name><row>1</row><row>2</row></host><host><name>b</name></host></r>"
    rows = [*XmlRows(io.BytesIO(data), row_names=["row", "host"])]
    assert [row.name for row in rows] == ["row", "row", "host", "host"]
    assert [text_at(parent, "@v") for parent in rows[0].parents] == ["1", ""]
    assert [text_at(row.parents[-1], "name") for row in rows[:2]] == ["a", "a"]
    assert rows[2].element == {"name": [{"": ["a"]}]}


def test_what_precedes_the_first_row_is_known_before_it_is_used():
    data = b"<r v='1'><info>a</info>" + b" " * 200_000 + b"<row>1</row></r>"
    rows = XmlRows(io.BytesIO(data), row_names=["row"])
    assert text_at(rows.root["r"][0], "info") == "a"
    assert len(list(rows)) == 1
    assert list(rows) == []


def test_too_long_a_document_is_refused(monkeypatch):
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", 1024**2)
    assert refusal(b"<r>" + b" " * 1024**2 + b"</r>") == "The file is one document of more than 1 MB."


def peak(read_all, data):
    stream = io.BytesIO(data)
    tracemalloc.start()
    try:
        with suppress(UnreadableReport):
            read_all(stream)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def last_row(stream):
    for row in XmlRows(stream, row_names=["row"]):
        assert row.name == "row"


SIZE = 2 * 1024**2
WIDE = "\N{PILE OF POO}".encode()


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize(
    "data",
    [
        b"<r>" + b"<row/>" * (SIZE // 6) + b"</r>",
        b"<r>" + b"<row>1</row>\n  " * (SIZE // 15) + b"</r>",
        b"<r><row>" + b"a" * SIZE + b"</row></r>",
        b"<r><row>" + b"a" * (SIZE - 8) + WIDE + b"</row></r>",
        b"<r><row>" + b"a<!---->" * (SIZE // 8) + b"</row></r>",
        b"<r><row>" + b"a&#10;" * (SIZE // 6) + b"</row></r>",
        b"<r><row><![CDATA[" + b"a" * SIZE + b"]]></row></r>",
        b"<r a='" + b"a" * SIZE + b"'/>",
        b"<r>" + b"<row>" * (SIZE // 5),
        b"<r>" + b"<row>" + b"<a b='1'/>" * (SIZE // 10) + b"</row></r>",
        b"<r>" + b"".join(b"<row a%d='1'/>" % number for number in range(SIZE // 16)) + b"</r>",
    ],
    ids=lambda data: data[:20].decode(),
)
def test_rows_take_no_more_memory_than_one_part_and_one_row(data):
    assert peak(last_row, data) < 32 * 1024**2


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("data", [b"<r>" + b"<row/>" * (SIZE // 6) + b"</r>", b"<r>" + b"a" * SIZE + b"</r>"])
def test_a_whole_document_is_within_bounds_too(data):
    assert peak(lambda stream: read_xml(stream, kept_encoded=["row"]), data) < 32 * 1024**2


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"<report/>", True),
        (HEADER + b"<!-- by <report> -->\n<!DOCTYPE report [<!ELEMENT report (a)>]>\n<report a='1'>", True),
        (b'\xef\xbb\xbf<?xml version="1.0"?><?style a?><!DOCTYPE report SYSTEM "a.dtd"><report\n>', True),
        (b"<reports>", False),
        (b"<a><report>", False),
        (b'{"a": "<report>"}', False),
        (b"<!-- <report> ", False),
    ],
)
def test_a_document_is_recognised_by_its_root(data, expected):
    assert bool(head_pattern("report").search(data)) is expected


@pytest.mark.parametrize(
    "part", [b"<?a?>", b"<!---->", b"<!DOCTYPE a>", b" ", b"<!DOCTYPE a [] ", b"<?", b"<!--"]
)
def test_recognising_takes_no_long_time_on_any_file(part):
    assert not head_pattern("report").search(part * (1024**2 // len(part)))
