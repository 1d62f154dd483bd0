"""Names, meanings and remedies for testssl.sh's checks, which writes only ids and results."""

from typing import NamedTuple

from dashboard_api.scanners.testssl.site_words import SITE_WORDS
from dashboard_api.scanners.testssl.tls_words import TLS_WORDS

WORDS = TLS_WORDS | SITE_WORDS
_MULTIPLE = "_multiple"


class Words(NamedTuple):
    """A check's name, the meaning of its finding to an owner, and the remedy."""

    name: str
    meaning: str = ""
    remedy: str = ""


def words_of(check: str) -> Words:
    """Return the words for ``check``; for an unknown one, its id without underscores."""
    if check in WORDS:
        return Words(*WORDS[check])
    if check.endswith(_MULTIPLE):
        header = check.removesuffix(_MULTIPLE)
        return Words(f"Several {header} headers", "Browsers use one of them only.", f"Send {header} once.")
    return Words(check.replace("_", " "))
