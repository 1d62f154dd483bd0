"""Strict-Transport-Security as browsers read it: an invalid header is ignored (RFC 6797, 6.1 and 8.1)."""

import re

# A directive: a token, perhaps with a value that is a token or quoted.
_WORD = r"[!#$%&'*+.^_`|~\w-]+"
_DIRECTIVE = re.compile(rf"\s*({_WORD})\s*(?:=\s*(\"[^\"]*\"|{_WORD})\s*)?", re.ASCII)
_IGNORED = "Browsers ignore the header: "


def age_of(header: str) -> tuple[int, str]:
    """Return max-age in seconds, and why it is 0."""
    values: dict[str, str | None] = {}
    for part in filter(str.strip, header.split(";")):
        directive = _DIRECTIVE.fullmatch(part)
        if not directive:
            return 0, f"{_IGNORED}{part.strip()[:50]} is no directive."
        name = directive[1].lower()
        if name in values and name in ("max-age", "includesubdomains"):
            return 0, f"{_IGNORED}{directive[1]} occurs twice."
        values[name] = directive[2]
    age = (values.get("max-age") or "").strip('"')
    if not age:
        return 0, f"{_IGNORED}it has no max-age."
    if not re.fullmatch("[0-9]+", age):
        return 0, f"{_IGNORED}max-age is {age[:50]}, not a number of seconds."
    if values.get("includesubdomains") is not None:
        return 0, f"{_IGNORED}includeSubDomains has a value."
    seconds = int(age[:12])
    return seconds, "" if seconds else "A max-age of 0 turns HSTS off."


def is_ignored(header: str) -> bool:
    """Return whether browsers ignore the header, so that an earlier one still counts."""
    return age_of(header)[1].startswith(_IGNORED)
