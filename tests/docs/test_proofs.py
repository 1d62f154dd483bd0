"""The table of docs/asvs.md is complete."""

import re
from pathlib import Path

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
