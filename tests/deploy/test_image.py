"""The image without Docker: the steps of the Dockerfile that need no network, and the compose file."""

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests.config.checkout import BASE_DIR
from tests.deploy.test_files import COMPOSE, DEPLOY

DOCKERFILE = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text())
STEPS = re.findall(r"^([A-Z]+) (.+)$", DOCKERFILE, re.MULTILINE)
IGNORED = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()


def is_ignored(path):
    """Return whether Docker leaves a file or folder of the repository out."""
    patterns = [line.removeprefix("**/") for line in IGNORED if line and not line.startswith("#")]
    names = [*path.parts, str(path)]
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns for name in names)


def of(instruction):
    return [text for name, text in STEPS if name == instruction]


def test_the_steps_are_in_an_order_that_works():
    order = [name for name, _ in STEPS]
    assert order == ["FROM", "ENV", "RUN", "WORKDIR", "COPY", "RUN", "COPY", "RUN", "USER", "CMD"]
    system, libraries, static = of("RUN")
    assert " dashboard" in system.partition("useradd")[2]
    assert of("USER") == ["dashboard"]
    locks, everything = of("COPY")
    assert {*locks.split()[:-1]} == {*re.findall(r"-r (\S+)", libraries)}
    assert everything == ". ."
    assert of("WORKDIR")[0] in system
    assert static.index("collectstatic") < static.index("compileall")


def test_services_wait_only_for_what_can_happen():
    services = COMPOSE["services"]
    for service in services.values():
        for name, wait in service.get("depends_on", {}).items():
            if wait["condition"] == "service_healthy":
                assert "healthcheck" in services[name]
            if wait["condition"] == "service_completed_successfully":
                assert "restart" not in services[name]
        command = service.get("command", [])
        if "manage.py" in command:
            assert command[command.index("manage.py") + 1] in get_commands()


@pytest.mark.slow
@pytest.mark.once
def test_what_the_image_holds_collects_its_static_files_and_starts(tmp_path):
    """The last RUN and the CMD, by the files that are left without those of Dockerfile.dockerignore."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for name in map(Path, listed):
        if not is_ignored(name) and (BASE_DIR / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(BASE_DIR / name, tmp_path / name)
    assert not any((tmp_path / name).exists() for name in ("tests", "benchmarks", ".git", ".env", "var"))
    script = of("RUN")[-1].replace("install -d -o dashboard -m 700", "install -d -m 700")
    environ = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    run(script, tmp_path, environ)
    assert (tmp_path / "var/static/staticfiles.json").is_file()
    assert any((tmp_path / "portal/__pycache__").glob("urls.*.pyc"))
    keys = re.search(r"^(SECRET_KEY=.+?\)\" MASTER_KEYS=.+?\)\") ", script)[1]
    command = " ".join(re.findall(r'"([^"]+)"', of("CMD")[0]))
    run(f"{keys} {command} --check-config", tmp_path, environ)


def run(script, folder, environ):
    done = subprocess.run(
        ["bash", "-ec", script], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
