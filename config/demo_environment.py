"""The demo's .env: made once, before Django reads a setting."""

from collections.abc import Sequence
from pathlib import Path


def prepare_environment(base_dir: Path, arguments: Sequence[str]) -> None:
    """Write ``.env`` where there is none."""
