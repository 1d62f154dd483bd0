"""The collection for Bruno: its script, run by Node.js as Bruno runs it, signs what the service accepts."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from dashboard_api.models import Secret
from tests.dashboard_api.calls import post
from tests.factories import make_account

pytestmark = pytest.mark.django_db

COLLECTION = Path(settings.BASE_DIR) / "docs/samples/bruno"
HARNESS = """
const { request, variables, script } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const headers = {};
const req = {
  getBody: () => request.body, getUrl: () => request.url,
  setBody: (body) => { request.body = body; }, setHeader: (name, value) => { headers[name] = value; },
};
const bru = { getEnvVar: (name) => variables[name], getProcessEnv: (name) => process.env[name] };
new Function("req", "bru", "require", script)(req, bru, require);
console.log(JSON.stringify({ body: request.body, headers }));
"""


def block(name, text):
    """Return the lines of a block of a .bru file."""
    return re.search(rf"^{re.escape(name)} {{\n(.*?)^}}", text, re.MULTILINE | re.DOTALL)[1]


def values(lines):
    return dict(line.strip().split(": ", 1) for line in lines.splitlines())


@pytest.mark.parametrize("name", sorted(path.stem for path in COLLECTION.glob("[A-Z]*.bru")))
def test_a_request_of_the_collection_is_answered(client, name):
    if shutil.which("node") is None:
        (pytest.fail if os.environ.get("REQUIRE_NODE") == "1" else pytest.skip)("not installed: node")
    _, secret = Secret.objects.issue(make_account(), by="tests", is_test=True)
    request = (COLLECTION / f"{name}.bru").read_text()
    url = values(block("post", request))["url"]
    given = {
        "request": {"url": url, "body": json.loads(block("body:json", request))},
        "variables": values(block("vars", (COLLECTION / "environments/Demo.bru").read_text())),
        "script": block("script:pre-request", (COLLECTION / "collection.bru").read_text()),
    }
    done = subprocess.run(
        ["node", "-e", HARNESS],
        input=json.dumps(given),
        env=os.environ | {"SITE_API_SECRET": secret},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    sent = json.loads(done.stdout)
    path = url.removeprefix("{{base_url}}")
    response = post(client, sent["body"].encode(), sent["headers"], path=path)
    assert response.status_code == 200, response.content
    assert response["X-Service-Test"] == "true"
