"""Links between documents lead somewhere, and decision records have one form."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
RECORDS = sorted(ROOT.glob("docs/decisions/[0-9]*.md"))


def anchors(file):
    """Return the anchors of the headings, as hosts of repositories make them."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(document):
    lost = []
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if link.startswith(("http:", "https:")):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert lost == []


@pytest.mark.parametrize("record", RECORDS, ids=lambda file: file.stem)
def test_a_record_has_status_context_decision_and_consequences_on_at_most_60_lines(record):
    text = record.read_text()
    parts = re.findall(r"^\*\*(Status|Context|Decision|Consequences)\.\*\*", text, re.MULTILINE)
    assert parts == ["Status", "Context", "Decision", "Consequences"]
    assert text.count("\n") <= 60


def test_every_record_is_listed_once_and_in_order():
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    assert re.findall(r"^\| \[\d{4}\]\(([^)]+)\)", index, re.MULTILINE) == [record.name for record in RECORDS]


def test_the_readme_is_short():
    assert (ROOT / "README.md").read_text().count("\n") <= 130


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_every_named_file_of_the_product_exists(document):
    folders = "dashboard_api|portal|config|foundation|es1|deploy|tests|benchmarks|docs|templates|static"
    named = re.findall(rf"`((?:{folders})/[\w/.-]+)`", document.read_text())
    assert [path for path in named if "NAME" not in path and not (ROOT / path).exists()] == []
