"""Versions of libraries, as their files and addresses write them."""

import re

# Up to three parts, then b1 as in old betas, or a word such as -rc.1, -wp or -slim.
VERSION = r"\d{1,3}(?:\.\d{1,4}){1,2}(?:b\d{1,2}|-[a-z][a-z0-9]{0,11}(?:\.\d{1,3})?)?"
_PARTS = re.compile(r"(\d{1,4}(?:\.\d{1,6}){0,3})(?:[-.]?([a-z]{1,12})[-.]?(\d{0,6}))?", re.IGNORECASE)
_BEFORE_RELEASE = {"a", "b", "alpha", "beta", "dev", "pre", "preview", "rc", "next"}
_FORMS = re.compile(r"[.-](?:min|slim|pack|packed|full|bundle|all|core|debug|src)\b.*", re.IGNORECASE)

Key = tuple[tuple[int, ...], int, str, int]


def key_of(version: str) -> Key | None:
    """Return a key that sorts versions; None if the version cannot be compared.

    A word that is not that of a test version, as in 1.12.4-wp, names a build with patches of its own.
    """
    match = _PARTS.fullmatch(_FORMS.sub("", version))
    if not match:
        return None
    word = (match[2] or "").lower()
    if word and word not in _BEFORE_RELEASE:
        return None
    numbers = [*map(int, match[1].split(".")), 0, 0, 0, 0][:4]
    return tuple(numbers), int(not word), word, int(match[3] or 0)


def without_form(version: str) -> str:
    """Return the version without the form of its file, such as -slim."""
    return _FORMS.sub("", version)


def is_in(version: str, first: str, below: str) -> bool:
    """Return whether a version is at least ``first``, if there is one, and less than ``below``, if any."""
    key, least, limit = key_of(version), key_of(first or "0"), key_of(below or "9999")
    return key is not None and least is not None and limit is not None and least <= key < limit
