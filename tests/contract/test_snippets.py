"""The snippets of a signed call: each really calls the service, in the language that it is written in."""

import html
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from django.template.loader import render_to_string

from es1.vectors import read_vectors
from foundation.texts.snippets import SNIPPETS
from tests.factories import SECRET

pytestmark = pytest.mark.django_db(transaction=True)

# For each language: the programs that it needs, the name of the file, and the command that runs it.
RUNS = {
    "curl": (["sh", "curl", "openssl"], "call.sh", ["sh"]),
    "python": ([], "call.py", [sys.executable]),
    "javascript": (["node"], "call.mjs", ["node"]),
    "php": (["php"], "call.php", ["php"]),
    "go": (["go"], "call.go", ["go", "run"]),
    "ruby": (["ruby"], "call.rb", ["ruby"]),
}
ALWAYS = {"curl", "python", "javascript"}  # in continuous integration, which requires Node.js
LANGUAGES = [pytest.param(key, marks=pytest.mark.slow) if key == "go" else key for key in RUNS]


def needed(language):
    """Return the command of ``language``; skip where its programs are missing."""
    programs, _, command = RUNS[language]
    if missing := [name for name in programs if shutil.which(name) is None]:
        is_required = language in ALWAYS and os.environ.get("REQUIRE_NODE") == "1"
        (pytest.fail if is_required else pytest.skip)(f"not installed: {', '.join(missing)}")
    return command


def call(language, service, link, folder, *, secret=SECRET):
    """Run the snippet with the secret in its environment, and return the response."""
    command = needed(language)
    values = {
        "path": "/v1/site/dashboard",
        "base_url": service.url,
        "host": link.website.host,
        "link_id": link.link_id,
        "account_ref": link.account.ref,
    }
    file = folder / RUNS[language][1]
    file.write_text(html.unescape(render_to_string(f"signing/{language}.txt", values)))
    environ = os.environ | {"SITE_API_SECRET": secret, "GOCACHE": str(folder / "go"), "GO111MODULE": "off"}
    options = {"cwd": folder, "env": environ, "capture_output": True, "text": True, "timeout": 240}
    done = subprocess.run([*command, file.name], check=False, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_snippet_is_run():
    assert [snippet.key for snippet in SNIPPETS] == list(RUNS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_snippet_calls_the_service(language, service, link, tmp_path):
    response = call(language, service, link, tmp_path)
    assert response["ok"] is True
    assert response["host"] == link.website.host
    assert {threat["severity"] for threat in response["threats"]} == {"High"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_snippet_shows_a_refusal(language, service, link, tmp_path):
    response = call(language, service, link, tmp_path, secret="es1_test_another_secret")
    assert response["ok"] is False
    assert response["error"]["code"] == "invalid_signature"


def test_the_shell_shows_the_secret_to_no_other_process(service, link, tmp_path, monkeypatch):
    """Each program that it starts first writes down its arguments."""
    programs, seen = tmp_path / "bin", tmp_path / "arguments"
    programs.mkdir()
    for name in ("curl", "openssl", "cut", "date", "head", "od"):
        file = programs / name
        file.write_text(f'#!/bin/sh\necho {name} "$@" >> {seen}\nexec {shutil.which(name)} "$@"\n')
        file.chmod(0o755)
    needed("curl")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    assert call("curl", service, link, tmp_path)["ok"] is True
    assert "openssl dgst -sha256" in seen.read_text()
    assert SECRET not in seen.read_text()


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_shells_hmac_is_that_of_the_vectors(shell):
    needed("curl")
    text = html.unescape(render_to_string("signing/curl.txt", {}))
    pad = re.search(r"^pad\(\) \{\n.*?^\}\n", text, re.MULTILINE | re.DOTALL)[0]
    sign = re.search(r"^signature=.*?\n(?=curl)", text, re.MULTILINE | re.DOTALL)[0]
    vectors = json.loads(read_vectors())["vectors"]
    for vector in (each for each in vectors if len(each["secret"].encode()) <= 64):
        environ = os.environ | {"SITE_API_SECRET": vector["secret"], "canonical": vector["canonical"]}
        script = f"{pad}{sign}printf %s $signature"
        done = subprocess.run([shell, "-ec", script], env=environ, capture_output=True, text=True, check=True)
        assert done.stdout == vector["valid_signature"], vector["name"]


@pytest.mark.parametrize("language", list(RUNS))
def test_a_snippet_reads_the_secret_from_its_environment(language):
    text = render_to_string(f"signing/{language}.txt", {})
    assert "SITE_API_SECRET" in text
    assert "<" not in text  # it is part of a page
