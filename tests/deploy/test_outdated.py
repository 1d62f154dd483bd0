"""The list of newer versions of what the lock files pin, without asking a package index."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

from tests.config.checkout import BASE_DIR


@pytest.fixture
def script(monkeypatch):
    monkeypatch.chdir(BASE_DIR)
    return runpy.run_path(str(BASE_DIR / ".ci" / "outdated"))


def answering(monkeypatch, newer):
    """Let ``make lock`` pin the versions of ``newer``, and pip list versions that no limit allows."""

    def run(command, cwd=None, **_):
        if command[0] == "make":
            for lock, (name, version) in newer.items():
                file = Path(cwd) / lock
                lines = file.read_text().splitlines(keepends=True)
                file.write_text(
                    "".join(
                        f"{name}=={version} \\\n" if each.startswith(f"{name}==") else each for each in lines
                    )
                )
        return subprocess.CompletedProcess(command, 0, stdout="Available versions: 99.0, 0.0.1\n")

    monkeypatch.setattr(subprocess, "run", run)


def test_a_newer_version_in_any_lock_file_is_named_also_of_a_package_that_others_need(
    script, monkeypatch, capsys
):
    newer = {
        "requirements.lock": ("urllib3", "99.1"),
        "requirements-stripe.lock": ("stripe", "99.2"),
        "deploy/engines/sslyze.lock": ("cryptography", "99.3"),
    }
    answering(monkeypatch, newer)
    assert script["main"]() == 1
    printed = capsys.readouterr().out
    for lock, (name, version) in newer.items():
        assert f"{lock}: {name} " in printed
        assert f"newer: {version}\n" in printed


def test_what_a_limit_holds_back_is_named_and_is_no_failure(script, monkeypatch, capsys):
    answering(monkeypatch, {})
    assert script["main"]() == 0
    printed = capsys.readouterr().out
    assert re.search(
        r"^requirements\.lock: django 5\.2\.\d+, held back: 99\.0 is there$", printed, re.MULTILINE
    )
    assert re.search(
        r"^deploy/engines/wapiti\.lock: \S+ \S+, held back: 99\.0 is there$", printed, re.MULTILINE
    )
    assert "newer:" not in printed


def test_every_lock_file_is_compared(script):
    locks = {
        str(file.relative_to(BASE_DIR)) for file in BASE_DIR.rglob("*.lock") if ".venv" not in file.parts
    }
    assert {each for each in locks if not each.startswith("var/")} == set(script["pins"](BASE_DIR))
