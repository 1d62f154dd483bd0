"""docs/architecture.md names the layers that import-linter checks."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_layers_are_those_that_are_checked():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    checked = {
        container: " > ".join(contract["layers"])
        for contract in contracts
        if contract["type"] == "layers"
        for container in contract["containers"]
    }
    (block,) = re.findall(
        r"## The layers\n.*?```\n(.*?)```", (ROOT / "docs/architecture.md").read_text(), re.S
    )
    named = dict(line.split(": ") for line in re.sub(r"\n {4}", " ", block).splitlines())
    assert named == checked
