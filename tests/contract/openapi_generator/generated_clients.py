"""Clients that openapi-generator makes from the OpenAPI document call the running service: ``make clients``.

The generator is a program in Java of about 30 MB, so the gate does not run this. Its file also has the
libraries that the Java client needs.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
import requests

from dashboard_api.models import Severity
from tests.dashboard_api.calls import fields_for
from tests.factories import SECRET, make_finding

pytestmark = pytest.mark.django_db(transaction=True)

HERE = Path(__file__).parent


def run(*command, **options):
    done = subprocess.run(
        [str(each) for each in command], capture_output=True, text=True, check=False, timeout=300, **options
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    return done.stdout


@pytest.fixture
def environment():
    """The environment in which make clients installs openapi-generator."""
    return Path(os.environ["OPENAPI_GENERATOR"])


@pytest.fixture
def jar(environment):
    [file] = environment.glob("lib/python*/site-packages/openapi_generator_cli/openapi-generator.jar")
    return file


@pytest.fixture
def generate(jar, service, tmp_path):
    """Return a function that makes the client of a language in a folder."""
    document = tmp_path / "openapi.json"
    document.write_bytes(requests.get(f"{service.url}/v1/openapi.json", timeout=60).content)

    def generate(language, folder, *options):
        run("java", "-jar", jar, "generate", "-i", document, "-g", language, "-o", folder, *options)
        return folder

    return generate


@pytest.fixture
def calls(service, link):
    """Return a function that runs a client, which reads a dashboard and a schedule, and is refused once."""
    finding = make_finding(link.website, severity=Severity.CRITICAL)
    arguments = service.url, json.dumps(fields_for(link))

    def calls(*command, **environ):
        said = run(*command, *arguments, env=os.environ | environ | {"SITE_API_SECRET": SECRET})
        assert said.splitlines() == [finding.title, "off", "unknown_link"]

    return calls


def test_a_python_client_is_answered(generate, calls, environment, tmp_path):
    client = generate("python", tmp_path / "client")
    run(environment / "bin/pip", "install", "--quiet", "-r", client / "requirements.txt")
    calls(environment / "bin/python", HERE / "call.py", PYTHONPATH=str(client))


def test_a_go_client_is_answered(generate, calls, tmp_path):
    generate("go", tmp_path / "client", "--additional-properties=withGoMod=false,generateInterfaces=false")
    (tmp_path / "go.mod").write_text("module example.com/dashboard\n\ngo 1.19\n")
    (tmp_path / "call.go").write_text((HERE / "call.go").read_text())
    run("go", "build", "-o", "call", "call.go", cwd=tmp_path)  # the client needs the standard library alone
    calls(tmp_path / "call")


def test_a_java_client_is_answered(generate, calls, jar, tmp_path):
    options = "library=native,openApiNullable=false,documentationProvider=none"
    client = generate("java", tmp_path / "client", f"--additional-properties={options}")
    sources = [*client.glob("src/main/java/**/*.java"), HERE / "Generated.java", HERE / "Call.java"]
    run("javac", "-proc:none", "-nowarn", "-cp", jar, "-d", tmp_path / "classes", *sources)
    calls("java", "-cp", f"{jar}{os.pathsep}{tmp_path / 'classes'}", "Call")
