"""issue_secret and revoke_secret: a secret's life from the shell."""

import io
import sys

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from dashboard_api.models import Secret
from tests.commands import run, run_json
from tests.factories import SECRET, make_account

pytestmark = pytest.mark.django_db


@pytest.fixture
def account():
    return make_account(secrets=())


@pytest.fixture
def given(monkeypatch):
    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))

    return give


def test_issued_secret_is_printed_once_works_and_is_a_field_for_scripts(account):
    output, remark = io.StringIO(), io.StringIO()
    call_command("issue_secret", "acct_0001", "--by", "Ada", stdout=output, stderr=remark)
    secret = Secret.objects.get()
    assert output.getvalue() == f"{secret.reveal()}\n"
    assert secret.created_by == "Ada"
    assert secret.reveal() not in remark.getvalue()
    assert f"secret {secret.pk}" in remark.getvalue()
    assert "is not shown again" in remark.getvalue()
    answer = run_json("issue_secret", "acct_0001")
    secret = Secret.objects.latest("pk")
    assert answer == {
        "changed": True,
        "account": "acct_0001",
        "id": secret.pk,
        "hint": secret.hint,
        "created_by": "command line",
        "secret": secret.reveal(),
    }


def test_a_test_secret_is_issued_by_an_option(account):
    answer = run_json("issue_secret", "acct_0001", "--test")
    assert answer["secret"].startswith("es1_test_")
    assert Secret.objects.get().is_test
    with pytest.raises(CommandError, match="not allowed with"):
        run("issue_secret", "acct_0001", "--test", "--from-stdin")


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_secret_on_standard_input_is_stored_without_its_line_ending(account, given, ending):
    given((SECRET + ending).encode())
    run("issue_secret", "acct_0001", "--from-stdin")
    assert Secret.objects.get().reveal() == SECRET


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_secret_on_standard_input_is_never_printed(account, given, capfd, options):
    given(SECRET.encode())
    assert SECRET not in run("issue_secret", "acct_0001", "--from-stdin", *options)
    assert SECRET not in "".join(capfd.readouterr())


@pytest.mark.parametrize("data", [b"", b"too short", b"two secrets in\ntwo lines of text"])
def test_secret_on_standard_input_is_refused_with_what_is_needed(account, given, data):
    given(data)
    with pytest.raises(CommandError, match="16 to 512 printable characters"):
        run("issue_secret", "acct_0001", "--from-stdin")
    assert not Secret.objects.exists()


def test_secret_that_is_no_text_is_refused_without_a_trace_of_it(account, given):
    given(b"\xff\xfe" + SECRET.encode())
    with pytest.raises(CommandError, match="UTF-8") as refusal:
        run("issue_secret", "acct_0001", "--from-stdin")
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__


def test_third_secret_is_refused_with_what_to_do(account):
    run("issue_secret", "acct_0001")
    run("issue_secret", "acct_0001")
    with pytest.raises(CommandError, match="Revoke one of them first"):
        run("issue_secret", "acct_0001")


def test_secret_of_an_unknown_account_is_refused():
    with pytest.raises(CommandError, match="There is no account acct_9999"):
        run("issue_secret", "acct_9999")


def test_secret_retires_and_its_end_is_printed(account):
    number = run_json("issue_secret", "acct_0001")["id"]
    answer = run_json("revoke_secret", "acct_0001", str(number), "--retire")
    assert (answer["id"], answer["state"]) == (number, "retiring")
    assert Secret.objects.get().retires_at.isoformat()[:19] == answer["retires_at"][:19]
    second = run_json("issue_secret", "acct_0001")["id"]
    output = run("revoke_secret", "acct_0001", str(second), "--retire")
    assert f"works until {Secret.objects.get(pk=second).retires_at:%Y-%m-%d %H:%M} UTC" in output


def test_secret_is_revoked_and_cannot_retire_then(account):
    number = run_json("issue_secret", "acct_0001")["id"]
    answer = run_json("revoke_secret", "acct_0001", str(number))
    assert (answer["id"], answer["state"]) == (number, "revoked")
    assert Secret.objects.get().state == "revoked"
    with pytest.raises(CommandError, match="is revoked"):
        run("revoke_secret", "acct_0001", str(number), "--retire")


def test_secret_of_another_account_is_refused_naming_ones_own(account):
    mine = run_json("issue_secret", "acct_0001")
    make_account("acct_0002", secrets=())
    number = str(mine["id"])
    with pytest.raises(CommandError, match=f"acct_0002 has no secret {number}; it has: none."):
        run("revoke_secret", "acct_0002", number)
    with pytest.raises(CommandError, match=f"it has: {number} .{mine['hint']}, active"):
        run("revoke_secret", "acct_0001", str(mine["id"] + 1))
    assert Secret.objects.get().state == "active"


@pytest.mark.usefixtures("account")
def test_a_number_can_be_one_that_rows_have_after_a_restore():
    with pytest.raises(CommandError, match="has no secret 1795700733699217; it has: none"):
        run("revoke_secret", "acct_0001", "1795700733699217")
