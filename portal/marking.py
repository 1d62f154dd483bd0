"""The words of a search where they occur in a text, marked as the service finds them.

A word is a run of letters and digits; case and accents do not matter; the last word of a search is also
found as the beginning of a longer one.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from foundation.words import fold_with_origins


def marked(text: str, search: str) -> SafeString:
    """``text`` as HTML, with ``<mark>`` around what ``search`` found in it."""
    sought = fold_with_origins(search)[0].split()
    places = _places(text, sought) if sought else set()
    runs = groupby(enumerate(text), key=lambda numbered: numbered[0] in places)
    return format_html_join("", "{}", ((_run(run, is_found),) for is_found, run in runs))


def _run(run: Iterator[tuple[int, str]], is_found: bool) -> SafeString | str:
    characters = "".join(character for _, character in run)
    return format_html("<mark>{}</mark>", characters) if is_found else characters


def _places(text: str, sought: Sequence[str]) -> set[int]:
    """Which characters of ``text`` belong to a word that is sought, or to the beginning of one."""
    folded, origins = fold_with_origins(text)
    places: set[int] = set()
    for word in re.finditer(r"\S+", folded):
        length = len(word[0]) if word[0] in sought else len(sought[-1])
        if word[0] in sought or word[0].startswith(sought[-1]):
            start, end = word.start(), word.start() + length
            places.update(range(origins[start], max(origins[end], origins[end - 1] + 1)))
    return places
