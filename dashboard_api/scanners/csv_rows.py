"""Reader of untrusted CSV, row by row: UTF-8, with column names in the first line."""

import csv
import io
from collections.abc import Iterator
from typing import BinaryIO

from dashboard_api.scanners.report import BadRow, UnreadableReport
from dashboard_api.scanners.text import one_line

_SEPARATORS = ",;\t"
_MAX_LINE = 256 * 1024  # characters; the rest of a longer line is read as the next line
_NO_UTF_8 = 'The file is not UTF-8 text. In a spreadsheet, save it as "CSV UTF-8".'

CsvRow = dict[str, str]


class CsvRows:
    """Rows of a file as dicts by lower-case column name, with row numbers as in a spreadsheet.

    The constructor and iteration raise UnreadableReport.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._lines = _lines(stream)
        first = next(self._lines, "")
        self._separator = max(_SEPARATORS, key=first.count)
        header = next(csv.reader([first], delimiter=self._separator), [])
        self.columns = [one_line(name).lower() for name in header]
        while self.columns and not self.columns[-1]:  # spreadsheets may add empty columns
            self.columns.pop()
        if len(set(self.columns)) < len(self.columns):
            raise UnreadableReport("The file's first line names a column twice.")

    def __iter__(self) -> Iterator[tuple[int, CsvRow | BadRow]]:
        rows = csv.reader(self._lines, delimiter=self._separator, strict=True)
        number = 1
        while True:
            number += 1
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield number, BadRow(f"cannot be split into columns: {error}")
                continue
            is_blank = not any(map(str.strip, cells))
            repeats_header = [one_line(cell).lower() for cell in cells] == self.columns
            if not (is_blank or repeats_header):
                yield number, self._by_column(cells)

    def _by_column(self, cells: list[str]) -> CsvRow | BadRow:
        while len(cells) > len(self.columns) and not cells[-1].strip():
            cells.pop()
        if len(cells) != len(self.columns):
            return BadRow(f"has {len(cells)} columns, and the first line {len(self.columns)}")
        return dict(zip(self.columns, cells, strict=True))


def _lines(stream: BinaryIO) -> Iterator[str]:
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    try:
        while line := text.readline(_MAX_LINE):
            yield line
    except UnicodeDecodeError as error:
        raise UnreadableReport(_NO_UTF_8) from error
