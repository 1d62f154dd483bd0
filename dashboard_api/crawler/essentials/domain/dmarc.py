"""Checks of DMARC (RFC 7489, and the tags np and t of its successor)."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dashboard_api.crawler.essentials.domain.site import Site

RULES = ("dmarc-missing", "dmarc-invalid", "dmarc-not-enforced", "dmarc-partly-enforced")
_VERSION = re.compile(r"v\s*=\s*dmarc1\s*(;|$)", re.IGNORECASE)  # the first tag of a record
_LIKE_ONE = re.compile(r"v\s*=\s*dmarc1\b", re.IGNORECASE)
_URI = re.compile(
    r"mailto:[^@\s,]+@[^@\s,!]+(![0-9]+[kmgt]?)?|(?!mailto:)[a-z][a-z0-9+.-]*:\S+", re.IGNORECASE
)
_POLICIES = ("none", "quarantine", "reject")
# Patterns of values, in lower case.
_VALUES = {
    **dict.fromkeys(("p", "sp", "np"), "|".join(_POLICIES)),
    **dict.fromkeys(("adkim", "aspf"), "[rs]"),
    "pct": "[0-9]|[1-9][0-9]|100",
    "t": "[yn]",
    "psd": "[ynu]",
    "ri": "[0-9]+",
    "fo": "[01ds](:[01ds])*",
}


class Record(NamedTuple):
    """The tags of a record that receivers can read, in lower case, and what is wrong with the others."""

    tags: dict[str, str]
    mistakes: list[str]


def check(site: Site) -> Iterator[tuple[str, str]]:
    """Check DMARC as receivers do: of the host, or else of its domain."""
    mistaken = ""
    for name in dict.fromkeys((site.host, site.domain)):
        texts = site.lookups.texts(f"_dmarc.{name}")
        found = [text for text in texts if _VERSION.match(text)]
        if len(found) > 1:
            yield "dmarc-missing", f"Receivers ignore several DMARC records at _dmarc.{name}."
            return
        if found:
            yield from _problems(found[0], is_own=name == site.host)
            return
        mistaken = mistaken or next((text for text in texts if _LIKE_ONE.match(text)), "")
    if mistaken:
        yield (
            "dmarc-invalid",
            f"{mistaken}\nNo semicolon follows the version, so receivers ignore the record.",
        )
    else:
        yield "dmarc-missing", f"No DMARC record that counts at _dmarc.{name}."


def parse(record: str) -> Record:
    """Return the tags of a DMARC record."""
    tags: dict[str, str] = {}
    mistakes = []
    for part in filter(None, (part.strip() for part in record.split(";"))):
        name, sign, value = (each.strip() for each in part.partition("="))
        name = name.lower()
        if not sign or name in tags:
            mistakes.append(f"“{part}” is {'repeated' if sign else 'no tag with a value'}.")
        elif name in ("rua", "ruf"):
            wrong = [uri for uri in map(str.strip, value.split(",")) if not _URI.fullmatch(uri)]
            mistakes += [
                f"“{uri}” in {name} is no address of reports, such as mailto:a@example.com." for uri in wrong
            ]
            tags[name] = value
        elif name in _VALUES and not re.fullmatch(_VALUES[name], value.lower()):
            mistakes.append(f"“{part}” has a value that receivers do not know.")
        else:
            tags[name] = value.lower()
    if "p" not in tags:
        mistakes.append("It has no policy that receivers know (p).")
    return Record(tags, mistakes)


def _problems(text: str, *, is_own: bool) -> Iterator[tuple[str, str]]:
    """Yield the problems of a record, at the host itself or at its domain."""
    tags, mistakes = parse(text)
    if mistakes:
        yield "dmarc-invalid", "\n".join([text, *mistakes])
    if "p" not in tags:
        return
    # The default of sp is p, and that of np is sp.
    below = tags.get("sp", tags["p"])
    policies = {"p": tags["p"], "sp": below, "np": tags.get("np", below)}
    percent = int(tags.get("pct", "100"))
    reasons = []
    if policies["p" if is_own else "sp"] == "none":
        reasons.append("Mail in the name of this host: receivers are asked to do nothing.")
    if percent == 0:
        reasons.append("pct=0: the policy is for none of the mail.")
    if tags.get("t") == "y":
        reasons.append("t=y: the policy is only a test.")
    if reasons:
        yield "dmarc-not-enforced", "\n".join([text, *reasons])
        return
    if percent < 100:
        reasons.append(f"pct={percent}: the policy is for a part of the mail.")
    subjects = {"p": "the domain itself", "sp": "subdomains", "np": "subdomains that do not exist"}
    unprotected = [subject for tag, subject in subjects.items() if policies[tag] == "none"]
    reasons += [
        f"Mail in the name of {subject}: receivers are asked to do nothing." for subject in unprotected
    ]
    if reasons:
        yield "dmarc-partly-enforced", "\n".join([text, *reasons])
