"""Advice for files of unsupported formats, shown in the refusal.

Remove a format from ``unsupported.toml`` when a reader supports it.
"""

import re
import tomllib
from pathlib import Path

_HEAD_BYTES = 64 * 1024
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
# By the key of a format in the TOML file: where its text occurs in the file.
_PATTERNS = {
    "bytes": r"(?s)\A(?:{})",  # checked before every reader
    "pattern": "{}",
    "html": r"(?is)\A\s*<.{{0,8000}}?<title>[^<]{{0,200}}{}",
    "xml": r"(?s)\A\s*<(?:.*?<)?{}",  # after any comments and document type
}


def _read_formats() -> list[tuple[str, re.Pattern[bytes], str]]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
    formats = []
    for table in tables["formats"]:
        advice = table.pop("advice").format(**tables["shared"])
        [(kind, text)] = table.items()  # one other key is left
        formats.append((kind, re.compile(_PATTERNS[kind].format(text).encode("latin-1")), advice))
    return formats


_FORMATS = _read_formats()


def advice_on(head: bytes) -> str:
    """Return the format that ``head`` looks like, with advice; empty if it is unknown."""
    start = _COLOUR.sub(b"", head[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf"))
    return next((f"This is {advice}" for _, pattern, advice in _FORMATS if pattern.search(start)), "")


def advice_on_bytes(head: bytes) -> str:
    """Return advice for an archive or another binary file; empty if ``head`` looks like text."""
    found = (advice for kind, pattern, advice in _FORMATS if kind == "bytes" and pattern.match(head[:1000]))
    return next((f"This is {advice}" for advice in found), "")
