"""The tables of docs/asvs.md, docs/reliability.md and docs/threats.md are complete, and name what exists."""

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


def test_every_threat_has_a_proof_that_the_other_tables_have():
    rows = re.findall(
        r"^\| (T\d\d) \| [STRIDE] \| [^|]+ \| ([^|]+) \| [^|]*\|$",
        (ROOT / "docs/threats.md").read_text(),
        re.M,
    )
    assert [row for row, _ in rows] == [f"T{number:02}" for number in range(1, len(rows) + 1)]
    battery = set(re.findall(r"^\| (B\d\d) \|", (ROOT / "docs/reliability.md").read_text(), re.M)) | {"B27"}
    assert [row for row, proof in rows if not set(re.findall(r"\bB\d\d\b", proof)) <= battery] == []
    assert [row for row, proof in rows if "`" not in proof and not re.search(r"\bB\d\d\b", proof)] == []


@pytest.mark.parametrize("name", ["asvs", "reliability", "threats"])
def test_every_file_and_command_that_is_named_as_a_proof_exists(name):
    text = (ROOT / f"docs/{name}.md").read_text()
    files = re.findall(r"`((?:tests|config|dashboard_api|portal|deploy)/[\w/.]+)`", text)
    commands = re.findall(r"`python -m (benchmarks\.\w+)", text)
    files += [f"{command.replace('.', '/')}.py" for command in commands]
    assert len(files) > 20
    assert [file for file in files if not (ROOT / file).exists()] == []
