"""Tests of every format, on its sample and on random changes of it."""

import csv
import io
import json
import re
from copy import deepcopy
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard_api import limits
from dashboard_api.importing.staging import fingerprint_of
from dashboard_api.scanners import READERS, SOURCES, json_values, read_report
from dashboard_api.scanners.report import ReportedFinding, UnreadableReport
from tests.dashboard_api.scanners.samples import (
    FORMATS,
    FORMS,
    SAMPLES,
    as_csv,
    json_lines,
    make_row,
    read_whole,
    whole,
)

pytestmark = pytest.mark.once

texts = st.text(st.characters(codec=None), max_size=8) | st.sampled_from(
    ["high", "3", "0", "https://shop.example.com/a", "CWE-22", "2026-03-01T10:00:00Z", "Cookie: a", "/"]
)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["high", "High", "3", "-1", "99999999999", "https://[", "//", "2026-03-01T10:00:00Z", "<p>", "a:b:c", "/"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
EVERY_SAMPLE = {name: (name, data) for name, data in SAMPLES.items()}
EVERY_SAMPLE |= {form: (name, make(SAMPLES[name])) for form, (name, make) in FORMS.items()}
every_format = pytest.mark.parametrize("name", READERS)
every_sample = pytest.mark.parametrize(("name", "sample"), EVERY_SAMPLE.values(), ids=EVERY_SAMPLE)


def of_json(sample):
    return sample.startswith((b"{", b"["))


def of_xml(sample):
    return sample.startswith(b"<")


def samples_of(is_kind):
    chosen = {key: value for key, value in EVERY_SAMPLE.items() if is_kind(value[1])}
    return pytest.mark.parametrize(("name", "sample"), chosen.values(), ids=chosen)


every_json_sample, every_xml_sample = samples_of(of_json), samples_of(of_xml)
every_csv_sample = samples_of(lambda sample: not (of_json(sample) or of_xml(sample)))


def documents(data):
    """Return the sample as JSON values: one, or one a line."""
    try:
        return [json.loads(data)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in data.splitlines()]


def encoded(values):
    return b"\n".join(json.dumps(value).encode() for value in values)


def nodes(value):
    """Yield every list and object in ``value``."""
    if isinstance(value, list | dict):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from nodes(inner)


def reversed_lists(value):
    if isinstance(value, list):
        return [reversed_lists(item) for item in reversed(value)]
    if isinstance(value, dict):
        return {name: reversed_lists(item) for name, item in value.items()}
    return value


def turn_equals(element):
    """Turn the order of the children of one name."""
    for tag in {child.tag for child in element}:
        places = [index for index, child in enumerate(element) if child.tag == tag]
        turned = [element[index] for index in reversed(places)]
        for index, child in zip(places, turned, strict=True):
            element[index] = child


def fingerprints(name, data):
    report = read_whole(READERS[name], data)
    return {fingerprint_of(report.source, finding.identity) for finding in report.findings}


@every_format
def test_report_is_the_same_when_it_is_decoded_by_parts(name, monkeypatch):
    at_once = read_whole(READERS[name], SAMPLES[name])
    monkeypatch.setattr(json_values, "_AT_ONCE", 0)
    assert read_whole(READERS[name], SAMPLES[name]) == at_once


@pytest.mark.parametrize(
    ("name", "data"),
    [
        *((name, entry.bad_rows) for name, entry in FORMATS.items() if entry.bad_rows),
        ("nuclei", b"[0, 0, 0]"),
    ],
)
def test_reading_is_given_up_after_many_rows_of_which_none_can_be_read(name, data, monkeypatch):
    assert len(read_whole(READERS[name], data).rejects) >= 3
    monkeypatch.setattr(limits, "MAX_BAD_ROWS", 3)
    with pytest.raises(UnreadableReport, match=r"None of the first 3 rows can be read: .+\."):
        read_whole(READERS[name], data)


def test_reading_goes_on_after_one_good_row(monkeypatch):
    monkeypatch.setattr(limits, "MAX_BAD_ROWS", 3)
    report = read_whole(READERS["nuclei"], json_lines(make_row()) + b"what is no row\n" * 6)
    assert (len(report.findings), len(report.rejects)) == (1, 6)


def assert_read_or_refused(name, data):
    try:
        report = read_whole(READERS[name], data)
    except UnreadableReport:
        return
    numbers = [row.row for row in (*report.findings, *report.coverage, *report.rejects)]
    assert len(numbers) == len(set(numbers)) == report.rows
    assert "\x00" not in repr(report.findings)
    assert report.source
    for finding in report.findings:
        "".join([*finding.identity, *finding.references, finding.title, finding.evidence]).encode()


def test_every_format_has_an_entry():
    assert FORMATS.keys() == READERS.keys()


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"findings", "csv", "sarif"}))
def test_the_source_of_a_scanner_is_known(name):
    assert READERS[name].read(io.BytesIO(SAMPLES[name])).source in SOURCES


@every_sample
def test_sample_is_recognised_by_its_content_alone(name, sample):
    report = whole(read_report(io.BytesIO(sample)))
    assert report == whole(read_report(io.BytesIO(sample), format_name=name))
    assert report.findings
    assert report.rejects == ()
    assert next(each for each in READERS if READERS[each].HEAD_PATTERN.search(sample)) == name


@every_sample
def test_sample_behind_a_byte_order_mark_reads_alike(name, sample):
    marked = b"\xef\xbb\xbf" + sample
    assert whole(read_report(io.BytesIO(marked))) == read_whole(READERS[name], sample)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@every_sample
def test_sample_in_utf_16_reads_alike(name, sample, encoding):
    text = sample.decode()
    if of_xml(sample):
        text = '<?xml version="1.0" encoding="utf-16"?>' + text.partition("?>")[2]
    report = whole(read_report(io.BytesIO(f"\ufeff{text}".encode(encoding))))
    assert report == read_whole(READERS[name], sample)


def text_in(name, sample, finding):
    """Return a text in the sample, which is no name of a member, that the finding shows."""
    shown = f"{finding.title} {finding.description} {finding.evidence}"
    phrases = re.findall(r"[a-z]{2,} [a-z]{2,}", shown)
    return next((each for each in phrases if each.encode() in sample), FORMATS[name].text)


@pytest.mark.parametrize("bad", [b"\x00", b"\x02", b"\x1f", b"\xff", b"\xed\xa0\x80", b"\xef\xbf\xbe"])
@every_sample
def test_a_bad_character_costs_one_character(name, sample, bad):
    if name == "csv" and bad >= b"\x80":
        pytest.skip("our own CSV in another encoding is refused: many of its letters would be lost")
    expected = read_whole(READERS[name], sample)
    text = text_in(name, sample, expected.findings[0])
    start, end = text[:3], text[3:]
    broken = sample.replace(text.encode(), start.encode() + bad + end.encode())
    report = whole(read_report(io.BytesIO(broken)))
    assert (report.rows, report.rejects) == (expected.rows, ())
    assert len(report.findings) == len(expected.findings)
    shown = f"{report.findings[0].title} {report.findings[0].description} {report.findings[0].evidence}"
    assert re.search(rf"{start}\W{{0,3}}{end}", shown)


@pytest.mark.parametrize("reference", [b"&#x2;", b"&#0;", b"&#55357;&#56832;", b"&#xFFFE;", b"&#x110000;"])
@every_xml_sample
def test_a_reference_to_a_forbidden_character_costs_one_character(name, sample, reference):
    root = ElementTree.fromstring(sample)
    for element in root.iter():
        if element.text and element.text.strip() and not element.get("base64"):
            element.text = f"{element.text}REFERENCE"
    with_mark = ElementTree.tostring(root)
    expected = whole(read_report(io.BytesIO(with_mark.replace(b"REFERENCE", b""))))
    assert whole(read_report(io.BytesIO(with_mark.replace(b"REFERENCE", reference)))) == expected


@pytest.mark.parametrize("form", FORMS)
def test_another_form_reads_as_the_sample_does(form):
    name, data = EVERY_SAMPLE[form]
    assert read_whole(READERS[name], data) == read_whole(READERS[name], SAMPLES[name])


@every_json_sample
def test_spread_document_reads_alike(name, sample):
    values = documents(sample)
    if len(values) == 1:
        spread = json.dumps(values[0], indent=2).encode()
        assert whole(read_report(io.BytesIO(spread))) == read_whole(READERS[name], sample)


@every_xml_sample
def test_document_of_one_line_reads_alike(name, sample):
    root = ElementTree.fromstring(sample)
    for element in root.iter():
        element.text, element.tail = (element.text or "").strip(), ""
    assert read_whole(READERS[name], ElementTree.tostring(root)) == read_whole(READERS[name], sample)


@every_json_sample
def test_order_does_not_matter_to_what_is_recognised_again(name, sample):
    values = documents(sample)
    turned = [reversed_lists(value) for value in values]
    if len(values) > 1:
        turned = values[:1] + values[:0:-1] if name == "findings" else turned[::-1]
    assert fingerprints(name, encoded(turned)) == fingerprints(name, sample)


@every_xml_sample
def test_document_that_is_cut_off_is_refused_as_such(name, sample):
    for format_name in ("auto", name):
        with pytest.raises(UnreadableReport, match="cut off: the end of its XML is missing"):
            list(read_report(io.BytesIO(sample[:-5]), format_name=format_name))


@every_xml_sample
def test_order_of_elements_does_not_matter_to_what_is_recognised_again(name, sample):
    root = ElementTree.fromstring(sample)
    for element in root.iter():
        turn_equals(element)
    assert fingerprints(name, ElementTree.tostring(root)) == fingerprints(name, sample)


@every_csv_sample
def test_order_of_lines_does_not_matter_to_what_is_recognised_again(name, sample):
    rows = [*csv.DictReader(io.StringIO(sample.decode()))]
    assert fingerprints(name, as_csv(rows[::-1])) == fingerprints(name, sample)


@every_sample
def test_every_finding_says_what_and_where(name, sample):
    for finding in read_whole(READERS[name], sample).findings:
        assert isinstance(finding, ReportedFinding)
        assert finding.title
        assert finding.rule
        assert finding.location
        assert finding.description or finding.evidence


@every_format
@given(data=st.binary() | st.binary().map(lambda data: b"<" + data))
def test_any_bytes_are_read_or_refused(name, data):
    assert_read_or_refused(name, data)


@pytest.mark.slow
@every_format
@given(document=values)
def test_any_json_is_read_or_refused(name, document):
    assert_read_or_refused(name, json.dumps(document).encode())


@pytest.mark.once
@pytest.mark.slow
@every_json_sample
@given(data=st.data())
def test_sample_with_anything_in_it_is_read_or_refused(name, sample, data):
    values_of_sample = documents(sample)
    for _ in range(data.draw(st.integers(1, 3))):
        node = data.draw(st.sampled_from(list(nodes(values_of_sample))))
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if keys:
            node[data.draw(st.sampled_from(keys))] = data.draw(values)
    assert_read_or_refused(name, encoded(values_of_sample))


@pytest.mark.slow
@every_xml_sample
@given(data=st.data())
def test_xml_with_anything_in_it_is_read_or_refused(name, sample, data):
    root = ElementTree.fromstring(sample)
    for _ in range(data.draw(st.integers(1, 3))):
        element = data.draw(st.sampled_from(list(root.iter())))
        change = data.draw(st.sampled_from(["text", "attribute", "no children", "twice", "in itself"]))
        if change == "text":
            element.text = data.draw(words)
        elif change == "attribute" and element.attrib:
            element.attrib[data.draw(st.sampled_from(sorted(element.attrib)))] = data.draw(words)
        elif change == "no children":
            del element[:]
        elif change == "twice":
            element.extend(list(element))
        elif change == "in itself":
            element.append(deepcopy(element))
    assert_read_or_refused(name, ElementTree.tostring(root))


@every_csv_sample
@given(data=st.data())
def test_csv_with_anything_in_it_is_read_or_refused(name, sample, data):
    rows = [*csv.DictReader(io.StringIO(sample.decode()))]
    for _ in range(data.draw(st.integers(1, 3))):
        row = data.draw(st.sampled_from(rows))
        row[data.draw(st.sampled_from(list(row)))] = data.draw(words)
    assert_read_or_refused(name, as_csv(rows))


@pytest.mark.slow
@every_sample
@given(data=st.data())
def test_damaged_sample_is_read_or_refused(name, sample, data):
    start = data.draw(st.integers(0, len(sample)))
    damage = data.draw(st.binary(max_size=4))
    assert_read_or_refused(name, sample[:start] + damage + sample[start + len(damage) :])
    assert_read_or_refused(name, sample[:start])
