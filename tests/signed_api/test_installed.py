"""The packages as an integrator installs them: into an empty environment, and calling a running service."""

import os
import re
import subprocess
import venv
from pathlib import Path

import pytest
from django.conf import settings

from dashboard_api.models import Secret
from tests.factories import make_account

GUIDE = Path(settings.BASE_DIR) / "docs/integrating.md"


def program():
    """Return the programs of the guide that use the installed client; the later ones continue the first."""
    programs = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    return "\n".join(code for code in programs if "signed_api" in code)


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_the_program_of_the_guide_calls_the_service_with_the_installed_wheels(live_server, client, tmp_path):
    _, secret = Secret.objects.issue(make_account(), by="tests", is_test=True)
    page = client.get("/v1/docs", SERVER_NAME="testserver").text
    names = re.findall(r'href="/v1/clients/([\w.-]+\.whl)"', page)
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    install = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    done = subprocess.run(
        [*install, *(f"{live_server.url}/v1/clients/{name}" for name in names)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    code = program().replace("http://127.0.0.1:8000", live_server.url)
    environ = {"PATH": os.environ["PATH"], "SITE_API_SECRET": secret}
    run = subprocess.run(
        [python, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        "grade D, 1 open",
        "High: SQL injection at https://shop.example.com/search",
        "1 findings, 0 of them answered",
        "1 answered",
    ]
