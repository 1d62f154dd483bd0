"""One concept, one word: forbidden synonyms are not in documents and code; docs/glossary.md has the words."""

import ast
import functools
import io
import re
import tokenize
from pathlib import Path

import pytest

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ["audit", "benchmarks", "config", "dashboard_api", "es1", "foundation", "portal", "tests"]
PLACES = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "Makefile",
    "gunicorn.conf.py",
    "manage.py",
    "pyproject.toml",
    ".ci/*",
    "deploy/*",
    "docs/**/*.md",
    "static/dashboard_api/*",
    "static/portal/*",
    "templates/**/*",
    *(f"{package}/**/*.{suffix}" for package in PACKAGES for suffix in ("md", "py", "sql", "toml")),
]
NOT_HERE = {
    "docs/glossary.md",
    "tests/docs/test_glossary.py",
    "tests/docs/test_words.py",
}  # they name the words

FORBIDDEN = {
    # the word to use: the synonyms to avoid
    "again": "anew",
    "next to": "beside",
    "in addition": "besides",
    "except": "but for",
    "anyone who": "whoever",
    "expensive": "dear|dearer|dearest",
    "fix": "mend|mends|mended|mending",
    "say": "told|tell of|tells of|telling of",
    "account": "tenants?|customer records?",
    "import": "ingestion",
    "severity": "badness",
    "export": "takeout|take it with you",
    "notification": "tiding|tidings",
    "everything": "all that",
}
# In names of functions, docstrings and comments.
FORBIDDEN_IN_PROSE = {
    "is": r"lies|stands(?! for)",
    "fast": "quickest|quicker",
    "of these": r"of which (?:is|are|has|have) (?:it|they)",
    "scanner": "detection engines?",
}
UNCLEAR_START = re.compile(r"(?:what|how|who|where|when|why|which)\b", re.IGNORECASE)


@functools.cache
def files(suffix: str = "") -> dict[str, str]:
    """Return the text of every file of the places, by its name."""
    paths = {path for pattern in PLACES for path in ROOT.glob(pattern) if path.is_file()}
    names = {path.relative_to(ROOT).as_posix(): path for path in paths if path.suffix != ".pyc"}
    return {
        name: names[name].read_text()
        for name in sorted(names.keys() - NOT_HERE)
        if name.endswith(suffix) and "node_modules" not in name
    }


@functools.cache
def docstrings(text: str) -> list[tuple[int, str]]:
    """Return line and text of every docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        (getattr(node, "lineno", 1), docstring)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, documented) and (docstring := ast.get_docstring(node))
    ]


@functools.cache
def prose(text: str) -> list[tuple[int, str]]:
    """Return line and text of every docstring, comment and function name."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = [(node.lineno, node.name) for node in ast.walk(ast.parse(text)) if isinstance(node, functions)]
    return docstrings(text) + comments + names


def found(forbidden, texts, lines_of):
    """Return the lines with a forbidden word, each with its file and number."""
    synonym = re.compile(rf"(?<![a-z])({'|'.join(forbidden.values())})(?![a-z])", re.IGNORECASE)
    return [
        f"{name}:{number}: {line}"
        for name, text in texts.items()
        if synonym.search(text)
        for number, line in lines_of(text)
        if synonym.search(line)
    ]


def test_no_forbidden_synonym_is_used():
    assert found(FORBIDDEN, files(), lambda text: enumerate(text.splitlines(), 1)) == []


def test_no_forbidden_synonym_is_in_a_docstring_a_comment_or_a_name():
    assert found(FORBIDDEN_IN_PROSE, files(".py"), prose) == []


def test_a_docstring_begins_with_the_name_or_the_purpose_of_its_thing():
    assert [
        f"{name}:{number}: {docstring.splitlines()[0]}"
        for name, text in files(".py").items()
        for number, docstring in docstrings(text)
        if UNCLEAR_START.match(docstring)
    ] == []


def test_the_glossary_is_in_order_and_short():
    table = (ROOT / "docs" / "glossary.md").read_text().partition("|---|")[2]
    words = re.findall(r"^\| ([^|]*?) \|", table, re.MULTILINE)
    assert words == sorted(words)
    assert 25 <= len(words) <= 50
