import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard_api import limits
from dashboard_api.scanners import json_values
from dashboard_api.scanners.json_values import decode_lazily, open_document, read_document, to_text
from dashboard_api.scanners.lazy_list import LazyList
from dashboard_api.scanners.report import BadRow, UnreadableReport

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


def whole(value):
    """Return the value with each LazyList as a list."""
    if isinstance(value, dict):
        return {name: whole(each) for name, each in value.items()}
    return [whole(each) for each in value] if isinstance(value, list | LazyList) else value


@pytest.fixture
def by_parts(monkeypatch):
    monkeypatch.setattr(json_values, "_AT_ONCE", 0)


@settings(max_examples=50)
@given(values)
def test_document_is_the_same_by_parts(value):
    for text in (json.dumps(value), json.dumps(value, indent=1, ensure_ascii=False)):
        assert whole(decode_lazily(bytearray(text.encode(errors="replace")), at_once=0)) == json.loads(
            text.encode(errors="replace")
        )


def test_long_list_is_not_in_memory_and_a_short_one_is():
    document = decode_lazily(bytearray(json.dumps({"long": [7] * 9, "short": [7]}).encode()), at_once=10)
    assert isinstance(document["long"], LazyList)
    assert isinstance(document["short"], list)
    assert (len(document["long"]), document["long"][8], list(document["long"][7:])) == (9, 7, [7, 7])


def test_item_that_is_broken_loses_no_other(by_parts):
    document = open_document(io.BytesIO(b"[1, 2, " + b"1" * 5000 + b"]"))
    assert [str(item) if isinstance(item, BadRow) else item for item in document] == [
        1,
        2,
        "holds a number that JSON does not allow, or that is too long",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (rb'["\ud83d"]', "\ufffd"),
        (rb'["\udc80 and \uDFFF"]', "\ufffd and \ufffd"),
        (rb'["\ud83d\ude00"]', "\U0001f600"),
        (rb'["\\ud83d"]', r"\ud83d"),
        (rb'["\\\ud83d\n"]', "\\\ufffd\n"),
    ],
)
def test_half_of_a_character_is_replaced(by_parts, text, value):
    assert list(open_document(io.BytesIO(text))) == [value]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[1, 2", "is cut off: the end of its JSON is missing"),
        (b'{"a": 1, ', "is cut off: the end of its JSON is missing"),
        (b'[{"a": "b', "is cut off: the end of its JSON is missing"),
        (b"[1 2]", "is not JSON: expected ',' or ']'"),
        (b"[1] 2", "is not JSON: trailing characters"),
        (b'{"a": 1, \xff}', "is not JSON: "),
        (b'{"a": NaN}', "is not JSON: "),
        (b"", "is not JSON: "),
        (b"[" * 100_000, "is nested too deeply"),
        (b'[{"a": ' * 50_000, "is nested too deeply"),
    ],
)
def test_document_that_is_broken_is_unreadable(by_parts, text, reason):
    with pytest.raises(UnreadableReport, match=f"^The file {reason.replace('[', '.')}"):
        open_document(io.BytesIO(text))


@pytest.mark.parametrize("read", [read_document, open_document])
@pytest.mark.parametrize("text", [b"[0,0,0,0,0]", b"[[],[[]]]", b'{"a":{},"b":{}}'])
def test_document_of_too_many_values_is_unreadable(monkeypatch, read, text):
    monkeypatch.setattr(json_values, "_MAX_UNCHECKED", 1)
    monkeypatch.setattr(limits, "MAX_DOCUMENT_VALUES", 3)
    with pytest.raises(UnreadableReport, match="holds more than 3 values"):
        read(io.BytesIO(text))
    assert list(read(io.BytesIO(b"[0,1]"))) == [0, 1]


def test_document_whose_rows_are_judged_together_has_a_smaller_limit(monkeypatch):
    monkeypatch.setattr(limits, "MAX_DECODED_BYTES", 4)
    assert open_document(io.BytesIO(b"[1, 2]")) == [1, 2]
    with pytest.raises(UnreadableReport, match="one document of more than 0 MB"):
        read_document(io.BytesIO(b"[1, 2]"))


def test_long_list_within_evidence_is_laid_out():
    assert to_text({"a": LazyList([1, 2], str)}) == '{\n  "a": [\n    "1",\n    "2"\n  ]\n}'
