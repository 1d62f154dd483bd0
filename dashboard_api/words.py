"""Text as words: how findings are made searchable and how a query is read, on every database alike.

Case and accents do not matter; a word is a run of letters and digits. Decision record 0009.
"""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """The words of ``text`` in order, without case, accents or punctuation."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return _WORD.findall(bare)


def searchable(*texts: str) -> str:
    """Every distinct word of ``texts`` between single spaces, a space at both ends."""
    words = dict.fromkeys(word for text in texts for word in words_of(text))
    return f" {' '.join(words)} " if words else ""
