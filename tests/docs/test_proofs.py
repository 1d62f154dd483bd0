"""The tables of docs/asvs.md and docs/promises.md are complete, and name what exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STATES = {"holds", "by design", "partly", "no", "operator", "not here"}


def test_every_row_of_the_standard_has_a_state_and_a_proof():
    rows = re.findall(
        r"^\| (\d[^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*)\|$", (ROOT / "docs/asvs.md").read_text(), re.M
    )
    assert {state for _, _, state, _ in rows} <= STATES
    assert [
        row for row, _, state, proof in rows if state == "holds" and "`" not in proof and "[" not in proof
    ] == []
    chapters = {int(row.partition(".")[0]) for row, *_ in rows}
    assert chapters == set(range(1, 18))


def test_every_promise_names_what_shows_it():
    text = (ROOT / "docs/promises.md").read_text().partition("## What is not promised")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.M)
    shown = [row for row in rows if row != ("promise", "shown by")]
    assert len(shown) > 50
    assert [promise for promise, proof in shown if not re.search(r"`(?:tests/|make )", proof)] == []


@pytest.mark.parametrize("name", ["asvs", "promises"])
def test_every_file_and_command_that_is_named_as_a_proof_exists(name):
    text = (ROOT / f"docs/{name}.md").read_text()
    files = re.findall(r"`((?:tests|config|dashboard_api|portal|deploy)/[\w/.]+)`", text)
    commands = re.findall(r"`python -m (benchmarks\.\w+)", text)
    files += [f"{command.replace('.', '/')}.py" for command in commands]
    assert len(files) > 20
    assert [file for file in files if not (ROOT / file).exists()] == []
