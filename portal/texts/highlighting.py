"""Highlighting of search words in a text, by the rules of the service's search.

A word is a run of letters and digits. Case and accents are ignored. The last word of a search also matches
the start of a longer word.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

from foundation.texts.words import fold_with_origins


def highlight(text: str, search: str) -> SafeString:
    """Return ``text`` as HTML, with ``<mark>`` around the words that match ``search``."""
    words = fold_with_origins(search)[0].split()
    if not words:
        return conditional_escape(text)
    positions = _matching_positions(text, words)
    runs = groupby(enumerate(text), key=lambda pair: pair[0] in positions)  # pairs: position, character
    return format_html_join("", "{}", ((_run(run, is_match),) for is_match, run in runs))


def _run(run: Iterator[tuple[int, str]], is_match: bool) -> SafeString | str:
    characters = "".join(character for _, character in run)
    return format_html("<mark>{}</mark>", characters) if is_match else characters


def _matching_positions(text: str, words: Sequence[str]) -> set[int]:
    """Return the positions in ``text`` of matching words, or of their matching starts."""
    folded, origins = fold_with_origins(text)
    positions: set[int] = set()
    for word in re.finditer(r"\S+", folded):
        length = len(word[0]) if word[0] in words else len(words[-1])
        if word[0] in words or word[0].startswith(words[-1]):
            start, end = word.start(), word.start() + length
            # A character such as "ß" can fold into several: its whole self is marked.
            end_in_text = max(origins[end], origins[end - 1] + 1)
            positions.update(range(origins[start], end_in_text))
    return positions
