"""Rows of CSV for spreadsheets (RFC 4180), without cells that could run as formulas."""

import csv
import io
import re
import unicodedata
from typing import Any

BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"  # without it Excel does not recognise UTF-8
_FORMULA_STARTS = set("=+-@")
_IGNORED = {"Cc", "Cf", "Zl", "Zp", "Zs"}  # Unicode categories that a spreadsheet may skip at the start
_SPACES = " \N{ZERO WIDTH NO-BREAK SPACE}\N{ZERO WIDTH SPACE}\0"
# A spreadsheet that splits at another separator than the comma ends a cell here, even within quotes.
_CELL_ENDS = re.compile(r"(?<=[;\t\r\n])")


def without_formula(text: str) -> str:
    """Put an apostrophe before each part of ``text`` that a spreadsheet could run as a formula."""
    first = "'" if text.lstrip(_SPACES)[:1] in ("\t", "\r", "\n") else ""
    return first + "".join(f"'{part}" if _is_formula(part) else part for part in _CELL_ENDS.split(text))


def _is_formula(text: str) -> bool:
    chars = (char for char in text if char != '"' and unicodedata.category(char) not in _IGNORED)
    return unicodedata.normalize("NFKC", next(chars, ""))[:1] in _FORMULA_STARTS


def csv_lines(rows: Any) -> str:
    """Return ``rows`` as CSV with every cell quoted; rows end with CR LF."""
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(rows)
    return text.getvalue()
