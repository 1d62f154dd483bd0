import io

import pytest

from dashboard_api import limits
from dashboard_api.scanners.json_rows import read_rows
from dashboard_api.scanners.report import BadRow, UnreadableReport


def read(data):
    return [
        (number, str(row) if isinstance(row, BadRow) else row) for number, row in read_rows(io.BytesIO(data))
    ]


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b'{"a": 1}\n{"a": 2}\n', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'{"a": 1}\r\n\r\n{"a": 2}', [(1, {"a": 1}), (3, {"a": 2})]),
        (b'[{"a": 1}, {"a": 2}]', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'[\n  {\n    "a": 1\n  }\n]\n', [(1, {"a": 1})]),
        (b'{\n  "a": 1\n}\n', [(1, {"a": 1})]),
        (b'{"a": 1},\n{"a": 2},\n', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'[{"a": 1}, {"a": 2}][{"a": 3}]', [(1, {"a": 1}), (2, {"a": 2}), (3, {"a": 3})]),
        (b' [{"a": 1}]\n[]\n[{"a": 2}]\n', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'{\n"a": 1\n}\n{\n"a": 2\n}\n', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'{"a": "\t"}\n{"a": "\xff"}', [(1, {"a": "\t"}), (2, {"a": "\ufffd"})]),
        (b'\xef\xbb\xbf{"a": 1}', [(1, {"a": 1})]),
        ('{"a": "\u2028é"}'.encode(), [(1, {"a": "\u2028é"})]),
        (b"", []),
        (b" \n", []),
        (b"\xef\xbb\xbf", []),
        (b"[]", []),
    ],
)
def test_rows_are_read_in_every_layout(data, rows):
    assert read(data) == rows


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b'{"a":', "is cut off: the end of its JSON is missing"),
        (b"[INF] Nuclei is running", "is not JSON: Expecting value at character 2"),
        (b"1", "is not a JSON object"),
        (b"null", "is not a JSON object"),
        (b'{"a": NaN}', "holds a number that JSON does not allow, or that is too long"),
        (b'{"a": ' + b"1" * 5000 + b"}", "holds a number that JSON does not allow, or that is too long"),
        (b'{"a": ' + b"[" * 100_000, "is nested too deeply"),
    ],
)
def test_broken_line_loses_no_other(broken, reason):
    assert read(b'{"a": 1}\n' + broken + b'\n{"a": 2}') == [(1, {"a": 1}), (2, reason), (3, {"a": 2})]
    assert read(broken + b'\n{"a": 2}') == [(1, reason), (2, {"a": 2})]


@pytest.mark.parametrize(
    "data",
    [
        b"root:x:0:0\n",
        b'[{"a": 1},\n{"a": ',
        b'{\n"a": 1,\n',
        b"3",
        b"[" * 100_000,
        b'[{"a": ' + b"1" * 5000 + b"}]",
        b"\xff\xfe{\x00}\x00",
        b"\x00\x01\x02",
    ],
)
def test_file_without_any_row_is_unreadable(data):
    with pytest.raises(UnreadableReport, match="neither JSON nor JSON lines: it "):
        list(read_rows(io.BytesIO(data)))


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 20)
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", 40)


def test_line_that_is_too_long_loses_no_other(narrow):
    long = b'{"a": "' + b"x" * 100 + b'"}'
    assert read(b'{"a": 1}\n' + long + b'\n{"a": 2}') == [
        (1, {"a": 1}),
        (2, "is longer than 0 MB"),
        (3, {"a": 2}),
    ]


def test_document_that_is_too_large_is_unreadable(narrow):
    with pytest.raises(UnreadableReport, match="one document of more than 0 MB"):
        read(b'[{"a": 1},\n' + b'{"a": 1},\n' * 10 + b'{"a": 1}]')


def test_lines_behind_messages_are_read_however_many(narrow):
    rows = read(b"[INF] starting\n" + b'{"a": 1}\n' * 10)
    assert [number for number, row in rows if row == {"a": 1}] == list(range(2, 12))


def test_lines_are_read_one_by_one():
    stream = io.BytesIO(b'{"a": 1}\n' * 100_000)
    next(read_rows(stream))
    assert stream.tell() < 100_000
