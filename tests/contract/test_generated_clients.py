"""Clients generated from the OpenAPI document, used with the running service."""

import hashlib
import importlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

import es1
from dashboard_api.models import Severity
from tests.dashboard_api.calls import fields_for
from tests.factories import SECRET, make_finding
from tests.processes import one_at_a_time

pytestmark = [pytest.mark.slow, pytest.mark.once, pytest.mark.django_db(transaction=True)]

NODE = Path(__file__).parent / "node"
PATH = "/v1/site/dashboard"


@pytest.fixture
def document(service, tmp_path):
    file = tmp_path / "openapi.json"
    file.write_bytes(requests.get(f"{service.url}/v1/openapi.json", timeout=60).content)
    return file


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def python_client(document, tmp_path, monkeypatch):
    """Return the package that openapi-python-client generates."""
    target = tmp_path / "generated_client"
    generator = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    said = run(*generator, "--path", document, "--output-path", target, env={"PATH": str(tmp_path)})
    assert "Unable to parse" not in said
    monkeypatch.syspath_prepend(tmp_path)
    yield "generated_client"
    for name in [name for name in sys.modules if name.startswith("generated_client")]:
        del sys.modules[name]


def signed(request):
    """Sign the request of the generated client."""
    headers = es1.sign(
        SECRET,
        method=request.method,
        path=request.url.path,
        body=request.content,
        now=int(time.time()),
        nonce=secrets.token_urlsafe(24),
    )
    request.headers.update(headers)


def ask(package, service, fields):
    route = importlib.import_module(f"{package}.api.customer_threat_intelligence.site_dashboard")
    models = importlib.import_module(f"{package}.models")
    hooks = {"event_hooks": {"request": [signed]}}
    with importlib.import_module(package).Client(base_url=service.url, httpx_args=hooks) as client:
        return route.sync(client=client, body=models.DashboardRequest.from_dict(fields))


def test_a_generated_python_client_reads_an_answer_and_a_refusal(python_client, service, link):
    finding = make_finding(link.website, severity=Severity.HIGH)
    answer = ask(python_client, service, fields_for(link, severity="High"))
    assert type(answer).__name__ == "DashboardResponse"
    assert finding.title in [threat.title for threat in answer.threats]
    assert answer.summary.by_severity.high >= 1

    refusal = ask(python_client, service, fields_for(link, link_id="unknown"))
    assert type(refusal).__name__ == "ErrorResponse"
    assert refusal.error.code == "unknown_link"


@pytest.fixture(scope="module")
def node():
    """A folder with the Node packages; REQUIRE_NODE=1 fails instead of skipping."""
    without = pytest.fail if os.environ.get("REQUIRE_NODE") == "1" else pytest.skip
    if shutil.which("npm") is None:
        without("npm is not installed")
    locked = hashlib.sha256((NODE / "package-lock.json").read_bytes()).hexdigest()[:12]
    folder = NODE.parents[2] / "var" / f"node-{locked}"
    with one_at_a_time(folder):
        shutil.copytree(NODE, folder, dirs_exist_ok=True)
        if (folder / "installed").exists():
            return folder
        done = subprocess.run(
            ["npm", "ci", "--no-audit", "--no-fund"],
            cwd=folder,
            capture_output=True,
            check=False,
            timeout=240,
        )
        if done.returncode:
            without("npm cannot install its packages here")
        (folder / "installed").touch()
    return folder


def test_the_document_has_nothing_that_a_linter_warns_of(node, document):
    described = json.loads(document.read_text())
    described["servers"] = [{"url": "https://dashboard.test"}]  # localhost is a warning of its own
    document.write_text(json.dumps(described))
    output = run("npx", "redocly", "lint", document, "--config", "redocly.yaml", "--format=json", cwd=node)
    assert json.loads(output)["totals"] == {"errors": 0, "warnings": 0, "ignored": 0}


def test_a_backend_in_typescript_compiles_and_reads_answers(node, document, service, link, tmp_path):
    finding = make_finding(link.website, severity=Severity.CRITICAL)
    for name in ("call.ts", "package.json"):
        shutil.copy(node / name, tmp_path)
    (tmp_path / "node_modules").symlink_to(node / "node_modules")
    run("npx", "openapi-typescript", document, "-o", "api.d.ts", cwd=tmp_path)
    run("npx", "tsc", "--strict", "--target", "es2022", "--module", "nodenext", "call.ts", cwd=tmp_path)

    def answered(**fields):
        environ = os.environ | {"SITE_API_SECRET": SECRET}
        command = ["node", "call.js", service.url, json.dumps(fields_for(link, **fields))]
        return run(*command, cwd=tmp_path, env=environ).splitlines()

    assert answered()[0] == finding.title
    assert answered(link_id="unknown") == ["unknown_link"]
