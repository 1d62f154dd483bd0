"""One concept, one word: forbidden synonyms are not in documents and code; docs/glossary.md has the words.

A package is added to PLACES once its words follow the glossary.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/**/*.md",
    "es1/**/*.py",
    "foundation/**/*.py",
    "config/**/*.py",
    "config/**/*.toml",
    "dashboard_api/scanners/**/*.md",
    "dashboard_api/scanners/**/*.py",
    "dashboard_api/scanners/**/*.toml",
    "deploy/*",
    "gunicorn.conf.py",
    "portal/**/*.py",
    "templates/portal/**/*",
    "static/portal/*",
    "tests/config/**/*.py",
    "tests/contract/**/*.py",
    "tests/dashboard_api/scanners/**/*.py",
    "tests/deploy/**/*.py",
    "tests/es1/**/*.py",
    "tests/faults/**/*.py",
    "tests/portal/**/*.py",
]
NOT_HERE = {"docs/glossary.md"}  # names the forbidden words

FORBIDDEN = {
    # the word to use: the synonyms to avoid
    "again": "anew",
    "next to": "beside",
    "except": "but for",
    "anyone who": "whoever",
    "expensive": "dear|dearer|dearest",
    "fix": "mend|mends|mended",
    "say": "told|tell of|tells of|telling of",
    "export": "takeout|take it with you",
    "notification": "tiding|tidings",
    "everything": "all that",
}


def lines():
    """Return every line of the places, by the name of its file and its number."""
    files = {
        file for pattern in PLACES for file in ROOT.glob(pattern) if file.is_file() and file.suffix != ".pyc"
    }
    names = {file.relative_to(ROOT).as_posix(): file for file in files}
    return {
        f"{name}:{number}": line
        for name in sorted(names.keys() - NOT_HERE)
        for number, line in enumerate(names[name].read_text().splitlines(), 1)
    }


@pytest.mark.parametrize("word", FORBIDDEN)
def test_no_forbidden_synonym_is_used(word):
    synonym = re.compile(rf"(?<![a-z])({FORBIDDEN[word]})(?![a-z])", re.IGNORECASE)
    assert {place: line for place, line in lines().items() if synonym.search(line)} == {}


def test_the_glossary_is_in_order_and_short():
    table = (ROOT / "docs" / "glossary.md").read_text().partition("|---|")[2]
    words = re.findall(r"^\| ([^|]*?) \|", table, re.MULTILINE)
    assert words == sorted(words)
    assert 25 <= len(words) <= 45
