"""The words of a search where they occur in a text, marked as the service finds them.

A word is a run of letters and digits; case and accents do not matter; the last word of a search is also
found as the beginning of a longer one. tests/contract holds the two readings of words together.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

# What decomposition leaves of an accent.
_ACCENT = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]"
)
_ONE_SPELLING = str.maketrans({"ß": "ss", "ς": "σ"})


def marked(text: str, search: str) -> SafeString:
    """``text`` as HTML, with ``<mark>`` around what ``search`` found in it."""
    sought = words_of(search)
    places = _places(text, sought) if sought else set()
    runs = groupby(enumerate(text), key=lambda numbered: numbered[0] in places)
    return format_html_join("", "{}", ((_run(run, is_found),) for is_found, run in runs))


def _run(run: Iterator[tuple[int, str]], is_found: bool) -> SafeString | str:
    characters = "".join(character for _, character in run)
    return format_html("<mark>{}</mark>", characters) if is_found else characters


def words_of(text: str) -> list[str]:
    """The words of ``text`` in order, without case, accents or punctuation."""
    folded, _ = _folded(text)
    return folded.split()


def _places(text: str, sought: Sequence[str]) -> set[int]:
    """Which characters of ``text`` belong to a word that is sought, or to the beginning of one."""
    folded, origins = _folded(text)
    places: set[int] = set()
    for word in re.finditer(r"\S+", folded):
        length = len(word[0]) if word[0] in sought else len(sought[-1])
        if word[0] in sought or word[0].startswith(sought[-1]):
            start, end = word.start(), word.start() + length
            places.update(range(origins[start], max(origins[end], origins[end - 1] + 1)))
    return places


def _folded(text: str) -> tuple[str, Sequence[int]]:
    """``text`` as words and spaces; and where in ``text`` each character, and then the end, comes from."""
    if text.isascii():
        return re.sub("[^a-z0-9]", " ", text.lower()), range(len(text) + 1)
    folded = [
        (letter if letter.isalpha() or letter.isdecimal() else " ", origin)
        for origin, character in enumerate(text)
        for letter in _letters(character)
    ]
    return "".join(letter for letter, _ in folded), [*(origin for _, origin in folded), len(text)]


def _letters(character: str) -> str:
    return _ACCENT.sub("", unicodedata.normalize("NFKD", character).lower()).translate(_ONE_SPELLING)
