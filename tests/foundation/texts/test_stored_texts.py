"""Texts that are written in English are shown in German, whichever reader they come from."""

import ast
import re
from pathlib import Path

import pytest
from django.utils import translation

from dashboard_api import scanners
from dashboard_api.importing import locations
from dashboard_api.scanners import unsupported
from foundation.texts.stored_texts import translate
from foundation.texts.triage_reasons import REASONS

RAISED = {"BadRow", "UnreadableReport", "OutsideWebsite", "UnclearLocation"}
ENGLISH = re.compile(r"\b(is|are|has|the|names|of|which|with|and|that|it|your)\b", re.IGNORECASE)
# A value that fits every template.
VALUE = "3"


def texts_of(node):
    """Yield the texts of an expression, with a value for each that is only known when it is raised."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else VALUE for part in node.values)
    elif isinstance(node, ast.IfExp):
        yield from (*texts_of(node.body), *texts_of(node.orelse))


def raised_texts():
    files = [*Path(scanners.__file__).parent.rglob("*.py"), Path(locations.__file__)]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in RAISED and node.args:
                yield from texts_of(node.args[0])


def test_every_text_that_a_reader_raises_is_translated():
    texts = {*raised_texts(), *(f"This is {advice}" for *_, advice in unsupported._FORMATS)}
    assert len(texts) > 120
    with translation.override("de"):
        german = {text: re.sub("`.*?`", "", translate(text)) for text in texts}
    assert {text: shown for text, shown in german.items() if shown == text or ENGLISH.search(shown)} == {}


@pytest.mark.parametrize("reason", [each for reasons in REASONS.values() for each in reasons.values()])
def test_every_reason_that_analysts_choose_from_is_translated(reason):
    with translation.override("de"):
        assert translate(reason) != reason


@pytest.mark.parametrize(
    ("text", "german"),
    [
        ("has no title", "enthält kein Feld title"),
        ("The file is not JSON: a cut.", "Die Datei ist kein JSON: a cut."),
        (
            "This is Wapiti's HTML: run it with `-f json` or `-f xml`.",
            "Das ist HTML von Wapiti: Führen Sie das Programm mit `-f json` oder `-f xml` aus.",
        ),
        (
            "The scan is incomplete: Wapiti reached no page. Failed checks: 1.",
            "Der Scan ist unvollständig: Wapiti erreichte keine Seite. Fehlgeschlagene Prüfungen: 1.",
        ),
        (
            "Failed checks: 2. Unreadable rows: 1.",
            "Fehlgeschlagene Prüfungen: 2. Nicht lesbare Zeilen: 1.",
        ),
        (
            "Scope of what is fixed: a.example, category web. Suppressed: 1.",
            "Bereich, in dem Befunde als behoben gelten: a.example, Kategorie web. Unterdrückt: 1.",
        ),
        ("High to Low: The page is internal. It stays.", "Hoch zu Niedrig: The page is internal. It stays."),
        ("Words of an analyst. They stay.", "Words of an analyst. They stay."),
    ],
)
def test_values_and_unknown_sentences_stay(text, german):
    with translation.override("en"):
        assert translate(text) == text
    with translation.override("de"):
        assert translate(text) == german
