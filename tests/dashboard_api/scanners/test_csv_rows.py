import io

import pytest

from dashboard_api.scanners.csv_rows import CsvRows
from dashboard_api.scanners.report import BadRow, UnreadableReport


def read(text):
    data = text if isinstance(text, bytes) else text.encode()
    return [
        (number, str(row) if isinstance(row, BadRow) else row) for number, row in CsvRows(io.BytesIO(data))
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends_of_spreadsheets_are_read(separator, end):
    lines = [["Title", " Severity "], ['"a ""b"" c"', "low"], ['"two\nlines"', '"x,y;z"']]
    text = end.join(separator.join(cells) for cells in lines)
    assert read("\ufeff" + text + end) == [
        (2, {"title": 'a "b" c', "severity": "low"}),
        (3, {"title": "two\nlines", "severity": "x,y;z"}),
    ]


def test_empty_lines_are_no_rows_and_numbers_are_those_of_a_spreadsheet():
    assert read("a,b\n\n1,2\n,\n3,4\n") == [(3, {"a": "1", "b": "2"}), (5, {"a": "3", "b": "4"})]


def test_empty_columns_at_the_end_are_left_out():
    assert read("a,b,,\n1,2,,\n1,2\n1,2,3,\n") == [
        (2, {"a": "1", "b": "2"}),
        (3, {"a": "1", "b": "2"}),
        (4, "has 3 columns, and the first line 2"),
    ]


def test_names_of_the_columns_in_between_are_no_row():
    assert read("a,b\n1,2\nA,B\n3,4\n") == [(2, {"a": "1", "b": "2"}), (4, {"a": "3", "b": "4"})]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1", "has 1 columns, and the first line 2"),
        ("1,2,3", "has 3 columns, and the first line 2"),
        ('"1"x,2', "cannot be split into columns"),
        ('"' + "1" * 200_000 + '",2', "cannot be split into columns"),
        ("1" * 600_000, "has|cannot be split"),
    ],
)
def test_a_broken_line_is_a_bad_row_and_loses_no_other(line, reason):
    rows = read(f"a,b\n{line}\n3,4\n")
    assert any(part in rows[0][1] for part in reason.split("|"))
    assert rows[-1][1] == {"a": "3", "b": "4"}


def test_quotes_that_never_end_take_no_more_than_a_field():
    rows = read('a,b\n"1,2\n' + "3,4\n" * 100_000)
    assert "field larger than field limit" in rows[0][1]
    assert rows[-1][1] == {"a": "3", "b": "4"}
    assert "unexpected end of data" in read('a,b\n"1,2\n3,4\n')[0][1]


@pytest.mark.parametrize(
    "data", ["a,b\ncaf\xe9,1\n".encode("latin-1"), b"a,b\n" + b"1,2\n" * 99_999 + b"\xff"]
)
def test_text_that_is_not_utf_8_is_refused_with_what_to_do(data):
    with pytest.raises(UnreadableReport, match='save it as "CSV UTF-8"'):
        read(data)
