"""Rows of CSV for spreadsheets (RFC 4180), without cells that could run as formulas."""

import csv
import io
import unicodedata
from typing import Any

BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"  # without it Excel does not recognise UTF-8
_FORMULA_STARTS = set("=+-@")
_IGNORED = {"Cc", "Cf", "Zl", "Zp", "Zs"}  # categories that a spreadsheet may skip at the beginning


def inert(text: str) -> str:
    """Return ``text``, with an apostrophe before it if a spreadsheet could run it as a formula."""
    beginning = next((char for char in text if unicodedata.category(char) not in _IGNORED), "")
    is_formula = unicodedata.normalize("NFKC", beginning)[:1] in _FORMULA_STARTS
    return f"'{text}" if is_formula or text[:1] in ("\t", "\r", "\n") else text


def lines(rows: Any) -> str:
    """Return ``rows`` with every cell quoted; rows end in CR LF, lines within a cell in LF."""
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(rows)
    return text.getvalue()
