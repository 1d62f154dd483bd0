"""The list of libraries that have a newer version of their series, without asking a package index."""

import runpy
import subprocess

from tests.config.checkout import BASE_DIR

AVAILABLE = "6.0.1, 5.3.9, 5.2.20, 5.2.19, 5.2"


def test_the_newest_version_of_the_same_series_is_asked_for(monkeypatch):
    script = runpy.run_path(str(BASE_DIR / ".ci" / "outdated"))
    listed = subprocess.CompletedProcess([], 0, stdout=f"Django (6.0.1)\nAvailable versions: {AVAILABLE}\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: listed)
    newest = script["newest_of_series"]
    assert [newest("django", version) for version in ("5.2.19", "5.3.9", "5.1")] == ["5.2.20", "5.3.9", "5.1"]


def test_every_library_of_the_product_is_looked_at(monkeypatch, capsys):
    asked = []
    monkeypatch.chdir(BASE_DIR)

    def index(command, **_):
        asked.append(command[-1])
        return subprocess.CompletedProcess(command, 0, stdout="Available versions: 0.0.1\n")

    monkeypatch.setattr(subprocess, "run", index)
    assert runpy.run_path(str(BASE_DIR / ".ci" / "outdated"))["main"]() == 0
    assert capsys.readouterr().out == ""
    assert {"django", "requests", "typst"} <= {*asked}
