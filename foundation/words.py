"""Text as words: what findings are found by and how a query is read, on every database alike.

Case and accents do not matter; a word is a run of letters and digits. Decision records 0009 and 0012.
"""

import re
import unicodedata

MAX_WORD_LENGTH = 200  # the rest of a longer word does not count

# What decomposition leaves of an accent: as ranges of a character class, the same in the databases.
ACCENTS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
)

_ACCENT = re.compile(f"[{ACCENTS}]")
_ASCII = "".join(chr(n).lower() if chr(n).isalnum() else " " for n in range(128)).encode().ljust(256)
_ONE_SPELLING = str.maketrans({"ß": "ss", "ς": "σ"})


def words_of(text: str) -> list[str]:
    """The words of ``text`` in order, without case, accents or punctuation."""
    if text.isascii():
        words = text.encode().translate(_ASCII).decode().split()
    else:
        folded = _ACCENT.sub("", unicodedata.normalize("NFKD", text).lower()).translate(_ONE_SPELLING)
        words = "".join(mark if _is_of_words(mark) else " " for mark in folded).split()
    if max(map(len, words), default=0) > MAX_WORD_LENGTH:
        return [word[:MAX_WORD_LENGTH] for word in words]
    return words


def _is_of_words(character: str) -> bool:
    return character.isalpha() or character.isdecimal()
