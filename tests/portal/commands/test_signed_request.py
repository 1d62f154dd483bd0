import json
import os
import shutil
import subprocess

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

import es1
from dashboard_api.models import Severity
from tests.commands import run, run_json
from tests.factories import (
    SECRET,
    make_account,
    make_finding,
    make_link,
    make_portal_account,
    make_portal_website,
)
from tests.faults.server import FaultServer, answer, closed_port
from tests.signed_api.responses import HOST, dashboard, encoded, refusal

pytestmark = pytest.mark.django_db

LINK_ID = "6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e"


@pytest.fixture
def service(settings):
    with FaultServer(answer(200, encoded(dashboard()), headers=[("X-Request-Id", "0123abcd")])) as server:
        settings.DASHBOARD_BASE_URL = server.base_url
        yield server


def test_request_and_response_are_printed_without_the_secret(service):
    make_portal_website(make_portal_account("acct_0001"), HOST)
    output = run("signed_request", "--host", HOST, "--severity", "High", "--query", "café")
    [received] = service.received
    assert f"POST {service.base_url}/v1/site/dashboard\n" in output
    for name in (es1.TIMESTAMP_HEADER, es1.NONCE_HEADER, es1.SIGNATURE_HEADER):
        assert f"{name}: {received.header(name)}\n" in output
    assert f"\n{received.body.decode()}\n" in output
    assert '"severity":"High","query":"café","page":1,"page_size":20' in output
    assert "\n200\n" in output
    assert "x-request-id: 0123abcd" in output
    assert '  "host": "shop.example.com"' in output
    assert SECRET not in output


def test_request_is_one_json_object_for_scripts(service):
    make_portal_website(make_portal_account("acct_0001"), HOST)
    result = run_json("signed_request", "--host", HOST, "--page", "2", "--page-size", "5")
    assert result["request"]["method"] == "POST"
    assert result["request"]["headers"][es1.NONCE_HEADER] == service.received[0].header(es1.NONCE_HEADER)
    assert json.loads(result["request"]["body"])["page_size"] == 5
    assert result["response"]["status"] == 200
    assert result["response"]["body"] == dashboard()


@pytest.mark.parametrize(
    ("status", "body", "shown"),
    [
        (404, encoded(refusal("unknown_link")), '"code": "unknown_link"'),
        (400, b"<h1>No</h1>", "<h1>No</h1>"),
        (307, b"", "location: https://elsewhere.example"),
        (500, b"\x1b[31mred\x9b", r"\x1b[31mred"),
    ],
)
def test_any_status_other_than_200_is_printed_and_fails_the_command(settings, capsys, status, body, shown):
    make_portal_website(make_portal_account("acct_0001"), HOST)
    headers = [("Location", "https://elsewhere.example")]
    with FaultServer(answer(status, body, headers=headers)) as server:
        settings.DASHBOARD_BASE_URL = server.base_url
        with pytest.raises(CommandError, match=f"The service answered {status}") as caught:
            call_command("signed_request", "--host", HOST)
    assert caught.value.returncode == 1
    assert shown in capsys.readouterr().out


def test_request_is_signed_for_the_account_of_the_environment(service, settings):
    settings.PORTAL_ACCOUNT_REF, settings.SITE_API_SECRET = "acct_0009", "from the environment"
    run("signed_request", "--host", HOST, "--link-id", LINK_ID)
    [received] = service.received
    sent = json.loads(received.body)
    assert (sent["link_id"], sent["portal_account_ref"]) == (LINK_ID, "acct_0009")
    canonical = es1.canonical_string(
        received.header(es1.TIMESTAMP_HEADER),
        received.header(es1.NONCE_HEADER),
        "POST",
        "/v1/site/dashboard",
        received.body,
    )
    assert received.header(es1.SIGNATURE_HEADER) == es1.signature("from the environment", canonical)


def test_request_may_carry_another_link_id_than_the_portal_holds(service):
    make_portal_website(make_portal_account("acct_0001"), HOST)
    run("signed_request", "--host", HOST, "--account", "acct_0001", "--link-id", "anything")
    assert json.loads(service.received[0].body)["link_id"] == "anything"


def test_request_may_ask_for_a_finding(service):
    make_portal_website(make_portal_account("acct_0001"), HOST)
    output = run("signed_request", "--host", HOST, "--finding", "12")
    assert f"POST {service.base_url}/v1/site/finding\n" in output
    assert json.loads(service.received[0].body)["finding_id"] == "12"


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["--host", "other.example.com"], "add it in the admin, or add --link-id"),
        (["--host", HOST, "--account", "acct_0003"], r"has no website shop\.example\.com of acct_0003"),
        (["--host", HOST], "add --account, one of acct_0001, acct_0002"),
        (["--host", HOST, "--link-id", LINK_ID], "The link id needs an account"),
        (["--host", HOST, "--link-id", LINK_ID, "--account", "acct_0003"], r"connect_account acct_0003"),
        (["--host", "https://shop.example.com:8443"], "without a port"),
        (["--host", HOST, "--account", "acct_0001", "--timeout", "46"], "1 to 45 seconds"),
        (["--host", HOST, "--account", "acct_0001", "--timeout", "nan"], "1 to 45 seconds"),
        (["--host", HOST, "--account", "acct_0001", "--base-url", "http://example.com"], "https://"),
        (["--host", HOST, "--account", "acct_0001", "--query", "\udcff"], "must be UTF-8"),
        (["--host", HOST, "--page", "one"], "invalid int value"),
    ],
)
def test_impossible_request_is_refused_with_advice(service, arguments, refusal):
    make_portal_website(make_portal_account("acct_0001"), HOST)
    make_portal_website(make_portal_account("acct_0002"), HOST)
    with pytest.raises(CommandError, match=refusal):
        run("signed_request", *arguments)
    assert service.connections == 0


def test_unreachable_service_fails_the_command():
    make_portal_website(make_portal_account("acct_0001"), HOST)
    url = f"http://127.0.0.1:{closed_port()}"
    with pytest.raises(CommandError, match=f"No response from {url}: .*refused.*DASHBOARD_BASE_URL"):
        run("signed_request", "--host", HOST, "--base-url", url)


def test_a_portal_that_asks_its_own_process_names_its_own_address(service, settings):
    make_portal_website(make_portal_account("acct_0001"), HOST)
    settings.DASHBOARD_BASE_URL, settings.PORTAL_BASE_URL = "", service.base_url
    assert "\n200\n" in run("signed_request", "--host", HOST)
    settings.PORTAL_BASE_URL = ""
    with pytest.raises(CommandError, match="Add --base-url"):
        run("signed_request", "--host", HOST)


@pytest.mark.django_db(transaction=True)
def test_request_is_understood_by_the_real_service(live_server):
    link = make_link(make_account("acct_0001"))
    make_finding(link.website, severity=Severity.HIGH, title="Café login")
    make_finding(link.website, severity=Severity.LOW)
    make_portal_website(make_portal_account("acct_0001"), link.website.host, link.link_id)
    arguments = ["--host", link.website.host, "--base-url", live_server.url, "--severity", "high"]
    result = run_json("signed_request", *arguments, "--query", "cafe")
    assert [threat["title"] for threat in result["response"]["body"]["threats"]] == ["Café login"]


def test_the_call_as_a_shell_script_works_and_has_no_secret(live_server, settings, tmp_path):
    if not all(map(shutil.which, ("bash", "openssl", "curl"))):
        pytest.skip("bash, openssl and curl are needed")
    settings.DASHBOARD_BASE_URL = live_server.url
    link = make_link(make_account("acct_0001"))
    finding = make_finding(link.website, title="It's café")
    make_portal_website(make_portal_account("acct_0001"), link.website.host, link.link_id)
    script = run("signed_request", "--host", link.website.host, "--query", "it's café", "--curl")
    assert SECRET not in script
    environ = os.environ | {"SITE_API_SECRET": SECRET}
    done = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", script],
        env=environ,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert [threat["title"] for threat in json.loads(done.stdout)["threats"]] == [finding.title]
