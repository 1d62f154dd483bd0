"""The measured data: 2,000,000 findings of 2,000 websites; the five measured ones have 50 to 100,000.

Every run has the same findings, with words as frequent as in natural text. A dataset is built once for each
backend, scale and schema, and reused for two weeks; ``--scale 0.1`` has a tenth of the findings.
"""

import argparse
import functools
import hashlib
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import DatabaseError, connection, connections

from benchmarks import databases
from benchmarks.command_line import BACKENDS, Unavailable

FINDINGS = 2_000_000
WEBSITES = 2_000
MEASURED = SMALLEST, USUAL, MEDIUM_SIZED, LARGE, LARGEST = (1, 2, 3, 4, 5)  # websites, counted from 1
_SIZES = (50, 500, 5_000, 20_000, 100_000)
SOURCES = 12
DAYS = 730
_WORDS = 46
_RULES = 60  # for each template of a source

ACCOUNT = "acct_bench"
ANSWERING = "acct_answers"  # another account of the large website, with answers and rules
ANSWERS = 2_000
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
# Hosts of a website, by how many of a hundred findings have them.
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
    """Yield every finding, oldest first, with the websites mixed as in real scans."""
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
    location_host = _SUBDOMAINS[number % 101 % 100] + host(website)
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
        location=f"https://{location_host}/{words[2]}/{words[3]}/{number % 5000}",
        first_seen=first_seen,
        last_seen=now,
        fixed_at=first_seen + (now - first_seen) * chance.random() if status == "fixed" else None,
    )


def _rated(chance: random.Random, source: int, rule: int) -> tuple[int, str]:
    """Return severity and kind: a rule's usual rating, now and then changed by an analyst or by evidence."""
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


MAX_AGE = timedelta(days=14)
# The code that determines the rows of a dataset.
_INPUTS = (
    "benchmarks/product.py",
    "benchmarks/dataset.py",
    "dashboard_api/backends/*.py",
    "*/migrations/0*",
    "dashboard_api/models/words.py",
    "foundation/texts/words.py",
)


def prepare(backend: str, scale: float) -> str:
    """Set up Django on the dataset of this scale and return its name; build it if it is missing or old."""
    name = databases.database_name("reads", scale)
    databases.use(backend, name)
    if not is_current(now := datetime.now(UTC)):
        connections.close_all()
        build(backend, name, scale, now)
    return name


def build(backend: str, name: str, scale: float, now: datetime) -> None:
    """Replace the database by a new dataset; the stamp, written last, marks it as complete."""
    from benchmarks import product  # imports models: only after Django is set up

    print(f"Building {name} on {backend} ...", file=sys.stderr, flush=True)
    started = time.monotonic()
    databases.create(backend, name)
    product.fill(scale, now=now)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE benchmark_stamp (inputs varchar(64), built_at varchar(32))")
        cursor.execute("INSERT INTO benchmark_stamp VALUES (%s, %s)", [inputs_digest(), now.isoformat()])
    print(f"... in {time.monotonic() - started:.0f} s.", file=sys.stderr, flush=True)


def is_current(now: datetime) -> bool:
    """Return whether the dataset is complete, has today's schema, and is recent enough for the charts."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT inputs, built_at FROM benchmark_stamp")
            digest, built_at = cursor.fetchone()
    except DatabaseError:
        return False
    return digest == inputs_digest() and now - datetime.fromisoformat(built_at) < MAX_AGE


def inputs_digest() -> str:
    """Return a digest of the code that determines the tables and the data."""
    files = sorted(file for pattern in _INPUTS for file in databases.ROOT.glob(pattern))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def main() -> None:
    """Build the dataset if it is missing, and print its name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=BACKENDS, default="sqlite")
    parser.add_argument("--scale", type=float, default=1)
    arguments = parser.parse_args()
    try:
        print(prepare(arguments.backend, arguments.scale))
    except Unavailable as error:
        sys.exit(f"Skipped: {error}")


if __name__ == "__main__":
    main()
