"""Reads the meta tags of a page as a browser without scripts does, and only those of its head."""

import re
from typing import NamedTuple

from foundation.markup import MarkupReader, text_of_html

# Everything else ends the head, also where the page does not say so.
_OF_THE_HEAD = {"html", "head", "base", "link", "meta", "script", "style"}
_INERT = {"title", "noscript", "template", "textarea", "iframe", "xmp", "noembed", "noframes", "plaintext"}
_TITLE = re.compile(rb"<title[^>]{0,200}>([^<]{0,500})", re.IGNORECASE)


class Tags(NamedTuple):
    """The contents of the meta tags in the head of a page and outside of it, and whether the head ended."""

    in_head: list[str]
    outside: list[str]
    head_ended: bool


def verification_tags(page: bytes, name: str) -> Tags:
    """Return the meta tags called ``name`` of the page."""
    reader = _Reader(name)
    # It is never closed: text that a browser reads as an unfinished comment would become tags.
    reader.feed(page.decode("utf-8-sig", "replace"))
    return Tags(reader.in_head, reader.outside, not reader.is_head)


def is_markup(body: bytes) -> bool:
    """Return whether the body is a page, whatever its content type says."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype", b"<html", b"<head", b"<!--", b"<?xml")) or b"<title" in start


def title_of(page: bytes) -> str:
    """Return the title of a page, empty for one without."""
    match = _TITLE.search(page[: 64 * 1024])
    return text_of_html(match[1].decode("utf-8", "replace")).strip() if match else ""


class _Reader(MarkupReader):
    """Collects the tags."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._inert = name, ""
        self.is_head = True
        self.in_head: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the tag, or notice the end of the head."""
        if self._inert:
            return
        if tag in _INERT:
            self._inert = tag
            self.is_head = self.is_head and tag in {"title", "noscript", "template"}
            return
        if tag not in _OF_THE_HEAD:
            self.is_head = False
        # The first of two equal attributes counts.
        values = {key: value or "" for key, value in reversed(attrs)}
        if tag == "meta" and values.get("name", "").strip().lower() == self._name:
            (self.in_head if self.is_head else self.outside).append(values.get("content", "").strip())

    def handle_endtag(self, tag: str) -> None:
        """Notice the end of an element whose tags do not count, and of the head."""
        if tag == self._inert:
            self._inert = ""
        elif not self._inert and tag in {"head", "body", "html", "br"}:
            self.is_head = False

    def handle_data(self, data: str) -> None:
        """Notice text outside of elements, which ends the head; the text of scripts and styles does not."""
        if not self._inert and self.cdata_elem is None and data.strip():
            self.is_head = False
