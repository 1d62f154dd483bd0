"""Rules for all templates."""

import gzip
import re

import pytest
from django.conf import settings

pytestmark = pytest.mark.once
ROOT = settings.BASE_DIR
TEMPLATES = sorted(
    path for folder in ("templates", "dashboard_api/templates") for path in (ROOT / folder).rglob("*.html")
)
FRAME_OF_E_MAILS = ROOT / "templates/portal/email.html"
FORBIDDEN = {
    "an inline style": r"\sstyle\s*=|<style",
    "an inline script": r"<script(?![^>]*(?:\ssrc=|application/json))|\son\w+\s*=|hx-on|javascript:|js:",
    "unescaped output": r"\|\s*safe|autoescape\s+off|safeseq",
}
WITHOUT_INTEGRITY = r'<(script|link rel="stylesheet")(?![^>]*(?:integrity|application/json))[^>]*>'


def found(pattern, *, but=frozenset()):
    """Return the templates with a match of ``pattern``."""
    texts = ((path.relative_to(ROOT), path.read_text()) for path in TEMPLATES if path not in but)
    return [f"{name}: {match[0]}" for name, text in texts for match in [re.search(pattern, text)] if match]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_template_holds(what):
    assert found(FORBIDDEN[what], but={FRAME_OF_E_MAILS} if what == "an inline style" else ()) == []


def test_lines_have_at_most_120_characters():
    assert found(r"(?m)^.{121,}$") == []


def test_scripts_and_style_sheets_carry_integrity():
    # The stock admin has none to add to; published pages are in one folder with their style sheet.
    others = {path for path in TEMPLATES if "admin" in path.parts or path.name == "published.html"}
    assert found(WITHOUT_INTEGRITY, but=others) == []


@pytest.mark.parametrize(
    ("pattern", "bad"),
    [
        (FORBIDDEN["an inline style"], '<p style="color:red">'),
        (FORBIDDEN["an inline script"], "<script>alert(1)</script>"),
        (FORBIDDEN["an inline script"], '<script type="module">alert(1)</script>'),
        (FORBIDDEN["an inline script"], '<a onclick="x()">'),
        (FORBIDDEN["unescaped output"], "{{ title|safe }}"),
        (WITHOUT_INTEGRITY, '<script src="x.js"></script>'),
        (WITHOUT_INTEGRITY, '<link rel="stylesheet" href="x.css">'),
    ],
)
def test_each_of_these_checks_can_fail(pattern, bad):
    assert re.search(pattern, bad)


def test_assets_of_a_page_stay_small():
    portal = settings.BASE_DIR / "static" / "portal"
    assert max(len(script.read_bytes()) for script in portal.glob("*.js")) <= 5.25 * 1024
    assert len(gzip.compress((portal / "portal.css").read_bytes())) <= 11.5 * 1024
