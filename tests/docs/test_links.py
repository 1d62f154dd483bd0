"""Links between documents lead somewhere, and decision records have one form."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
RECORDS = sorted(ROOT.glob("docs/decisions/[0-9]*.md"))


def anchors(file):
    """Return the anchors of the headings, as hosts of repositories make them."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def lost_links(document):
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if link.startswith(("http:", "https:")):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield f"{document.relative_to(ROOT)}: {link}"


def test_every_link_leads_somewhere():
    assert [link for document in DOCUMENTS for link in lost_links(document)] == []


def test_every_record_has_status_context_decision_and_consequences_in_at_most_400_words():
    form = re.compile(r"^\*\*(Status|Context|Decision|Consequences)\.\*\*", re.MULTILINE)
    parts = ["Status", "Context", "Decision", "Consequences"]
    texts = {record.name: record.read_text() for record in RECORDS}
    assert [
        name for name, text in texts.items() if form.findall(text) != parts or len(text.split()) > 400
    ] == []


def test_every_record_is_listed_once_and_in_order():
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    assert re.findall(r"^\| \[\d{4}\]\(([^)]+)\)", index, re.MULTILINE) == [record.name for record in RECORDS]


def test_the_readme_is_short():
    assert (ROOT / "README.md").read_text().count("\n") <= 130


def test_every_named_file_of_the_product_exists():
    folders = "dashboard_api|portal|config|foundation|es1|deploy|tests|benchmarks|docs|templates|static"
    named = {
        (document.name, path)
        for document in DOCUMENTS
        for path in re.findall(rf"`((?:{folders})/[\w/.-]+)`", document.read_text())
    }
    assert [(name, path) for name, path in named if "NAME" not in path and not (ROOT / path).exists()] == []
