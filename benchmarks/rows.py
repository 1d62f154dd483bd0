"""Generated findings: the same at every run, oldest first, with words as frequent as in natural text."""

import functools
import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

FINDINGS = 2_000_000
WEBSITES = 2_000
MEASURED = SMALLEST, USUAL, MEDIUM_SIZED, LARGE, LARGEST = (1, 2, 3, 4, 5)  # websites, counted from 1
_SIZES = (50, 500, 5_000, 20_000, 100_000)
SOURCES = 12
DAYS = 730
_WORDS = 46
_RULES = 60  # of a template: every source has so many times the templates

ACCOUNT = "acct_bench"
SECRET = "es1_bench_0123456789abcdef0123456789abcdef"  # noqa: S105  # only in benchmark databases

COMMON, MEDIUM, RARE = "injection", "deserialization", "heartbleed"
_SHARES = {COMMON: 0.25, MEDIUM: 0.01, RARE: 0.00001}
# Weights: each list has 100 values.
_SEVERITIES = [4] * 3 + [3] * 12 + [2] * 25 + [1] * 30 + [0] * 30
_KINDS = ["confirmed"] * 50 + ["suspected"] * 30 + ["informational"] * 20
_STATUSES = ["open"] * 80 + ["fixed"] * 17 + ["accepted_risk"] * 2 + ["false_positive"]
_SOURCES = (
    [1] * 30 + [2] * 20 + [3] * 15 + [4] * 10 + [5] * 8 + [6] * 5 + [7] * 4 + [8] * 3 + [9, 9, 10, 11, 12]
)
# Hosts of a website, as a hundred findings have them.
_SUBDOMAINS = [""] * 60 + ["www."] * 20 + [f"app{number}." for number in range(20)]
_TITLES = [
    "Cross-site scripting in {} {}",
    "Outdated library {} {}",
    "Missing header on {} {}",
    "Weak cipher offered by {} {}",
    "Directory listing of {} {}",
    "Open redirect by {} {}",
    "Cookie {} without {} flag",
    "Debug page of {} {} is public",
]
_REMEDIATION = (
    "Escape untrusted values where they are written into the page, and deploy the change to every host; "
    "then scan the website again."
)


@dataclass(slots=True, kw_only=True)
class Row:
    """A finding; ``website`` and ``source`` are numbers from 1."""

    website: int
    source: int
    fingerprint: str
    severity: int
    kind: str
    status: str
    title: str
    description: str
    remediation: str
    rule: str
    location: str
    first_seen: datetime
    last_seen: datetime
    fixed_at: datetime | None


def host(website: int) -> str:
    """Return the host of a website."""
    return f"site{website}.example.com"


def measured_size(website: int, scale: float) -> int:
    """Return the number of findings of a measured website: at most an eighth of all findings."""
    return min(_SIZES[website - 1], round(FINDINGS * scale / 8))


def sizes(scale: float) -> list[int]:
    """Return the number of findings of each website: the measured ones first, the others by Zipf's law."""
    measured = [measured_size(website, scale) for website in MEASURED]
    weights = [1 / rank for rank in range(1, WEBSITES - len(measured) + 1)]
    remaining = FINDINGS * scale - sum(measured)
    return measured + [max(1, int(remaining * weight / sum(weights))) for weight in weights]


def rows(scale: float, *, now: datetime) -> Iterator[Row]:
    """Yield every finding, oldest first, with the websites mixed as by real scans."""
    chance = random.Random(7)  # the same data each time, not a secret
    owners = [website for website, size in enumerate(sizes(scale), 1) for _ in range(size)]
    chance.shuffle(owners)
    text = _text(chance)
    step = timedelta(days=DAYS) / len(owners)
    for number, website in enumerate(owners):
        start = chance.randrange(len(text) - _WORDS)
        words = text[start : start + _WORDS]
        yield _row(chance, number, website, words, now - step * (len(owners) - number), now)


def _row(
    chance: random.Random, number: int, website: int, words: list[str], first_seen: datetime, now: datetime
) -> Row:
    template, source = chance.randrange(len(_TITLES)), chance.choice(_SOURCES)
    severity, kind = _rated(chance, source, template * _RULES + number % _RULES)
    status = chance.choice(_STATUSES)
    body = words[4:] + [word for word, share in _SHARES.items() if chance.random() < share]
    return Row(
        website=website,
        source=source,
        fingerprint=hashlib.sha256(b"%d" % number).hexdigest(),
        severity=severity,
        kind=kind,
        status=status,
        title=_TITLES[template].format(words[0], words[1]),
        description=" ".join(body),
        remediation=_REMEDIATION,
        rule=f"rule-{template}-{number % _RULES}",
        location=f"https://{_location_host(number, website)}/{words[2]}/{words[3]}/{number % 5000}",
        first_seen=first_seen,
        last_seen=now,
        fixed_at=first_seen + (now - first_seen) * chance.random() if status == "fixed" else None,
    )


def _location_host(number: int, website: int) -> str:
    return _SUBDOMAINS[number % 101 % 100] + host(website)


def _rated(chance: random.Random, source: int, rule: int) -> tuple[int, str]:
    """A scanner rates each rule once; now and then an analyst disagrees, or evidence is stronger."""
    severity, kind = _own_rating(source, rule)
    if chance.random() < 0.001:
        severity = chance.choice(_SEVERITIES)
    return severity, chance.choice(_KINDS) if chance.random() < 0.1 else kind


@functools.cache
def _own_rating(source: int, rule: int) -> tuple[int, str]:
    chance = random.Random(source * 1_000 + rule)  # the same each time
    return chance.choice(_SEVERITIES), chance.choice(_KINDS)


def _text(chance: random.Random) -> list[str]:
    """Return a million words of a vocabulary of 5,000, by Zipf's law."""
    syllables = [consonant + vowel for consonant in "bcdfghjklmnprstvw" for vowel in "aeiou"]
    words = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(5_000)]
    weights = [1 / (rank + 10) for rank in range(len(words))]
    return chance.choices(words, weights, k=1_000_000)
