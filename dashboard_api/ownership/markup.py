"""Reader of the meta tags of a page, in its head and outside of it, as browsers without scripts see them."""

import re
from typing import NamedTuple

from foundation.texts.markup import HeadReader, text_of_html

_TITLE = re.compile(rb"<title[^>]{0,200}>([^<]{0,500})", re.IGNORECASE)


class Tags(NamedTuple):
    """The contents of meta tags in the head of a page and outside of it, and whether the head ended."""

    in_head: list[str]
    outside: list[str]
    head_ended: bool


def verification_tags(page: str, name: str) -> Tags:
    """Return the meta tags called ``name`` of the page."""
    reader = _Reader(name)
    # It is never closed: text that a browser reads as an unfinished comment would become tags.
    reader.feed(page)
    return Tags(reader.in_head, reader.outside, not reader.is_head)


def is_markup(body: bytes) -> bool:
    """Return whether the body is a page, whatever its content type says."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype", b"<html", b"<head", b"<!--", b"<?xml")) or b"<title" in start


def title_of(page: bytes) -> str:
    """Return the title of a page; empty if it has no title."""
    match = _TITLE.search(page[: 64 * 1024])
    return text_of_html(match[1].decode("utf-8", "replace")).strip() if match else ""


class _Reader(HeadReader):
    """Collects the meta tags with one name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self.in_head: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect a meta tag with the wanted name."""
        super().handle_starttag(tag, attrs)
        # The first of two equal attributes counts.
        values = {key: value or "" for key, value in reversed(attrs)}
        if not self.inert and tag == "meta" and values.get("name", "").strip().lower() == self._name:
            (self.in_head if self.is_head else self.outside).append(values.get("content", "").strip())
