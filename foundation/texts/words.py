"""Text as words, for searching findings, reading queries and highlighting matches.

Case and accents do not matter; a word is a run of letters and digits.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

MAX_WORD_LENGTH = 200  # characters beyond it are not searched

# The accents that decomposition separates.
_ACCENT = re.compile(
    "["
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
    "]"
)
# For bytes.translate: each ASCII character in lower case, or a space; the bytes of others never occur.
_FOLDED_ASCII = "".join(chr(n).lower() if chr(n).isalnum() else " " for n in range(128)).encode().ljust(256)
_ONE_SPELLING = str.maketrans({"ß": "ss", "ς": "σ"})


def words_of(text: str) -> list[str]:
    """Return the words of ``text`` in order, without case, accents or punctuation."""
    words = (_fold_ascii(text) if text.isascii() else _with_spaces(_fold(text))).split()
    if max(map(len, words), default=0) > MAX_WORD_LENGTH:
        return [word[:MAX_WORD_LENGTH] for word in words]
    return words


def on_one_line(text: str) -> str:
    """Return ``text`` on one line, without unprintable characters and changes of direction."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def fold_with_origins(text: str) -> tuple[str, Sequence[int]]:
    """Return ``text`` as words and spaces, and the index in ``text`` of each character and of the end."""
    if text.isascii():
        return _fold_ascii(text), range(len(text) + 1)
    folded = [(letter, index) for index, character in enumerate(text) for letter in _fold(character)]
    return _with_spaces(letter for letter, _ in folded), [*(index for _, index in folded), len(text)]


def _fold_ascii(text: str) -> str:
    return text.encode().translate(_FOLDED_ASCII).decode()


def _fold(text: str) -> str:
    return _ACCENT.sub("", unicodedata.normalize("NFKD", text).lower()).translate(_ONE_SPELLING)


def _with_spaces(folded: Iterable[str]) -> str:
    return "".join(letter if letter.isalpha() or letter.isdecimal() else " " for letter in folded)
