"""Text from a report is data: what is invisible, or lies about what it shows, goes before it is stored."""

import re
import unicodedata

_ANSI_SEQUENCE = r"\x1b\[[0-?]*[ -/]*[@-~]"
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"
_BIDI_OVERRIDE = "[\u202a-\u202e\u2066-\u2069]"
_UNWANTED = re.compile(f"{_ANSI_SEQUENCE}|{_CONTROL}|{_BIDI_OVERRIDE}")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """``text`` without control characters but line breaks and tabs, safe to encode and to show."""
    if text.isprintable():  # as nearly all is; nothing of the below is
        return text.strip()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATE.sub("\ufffd", _UNWANTED.sub("", text)).strip()


def one_line(text: str) -> str:
    """The same on a single line, with single spaces."""
    return " ".join(clean(text).split())


def within_bytes(text: str, limit: int) -> str:
    """As many whole characters of ``text`` as ``limit`` bytes of UTF-8 hold."""
    if 4 * len(text) <= limit:  # no character takes more
        return text
    return text[:limit].encode()[:limit].decode(errors="ignore")


def without_numbers(text: str) -> str:
    """``text`` as a part of an identity: what counts, times or versions something does not change it."""
    return re.sub(r"\d+", "#", text)[:200].strip()


def slug(name: str) -> str:
    """``name`` as a source is named: ASCII letters, digits and hyphens, at most 50; empty if none is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:50].rstrip("-")
