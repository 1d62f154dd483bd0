"""A command whose work was done before: exit code 0, "changed": false, and nothing changed."""

import io
import json
import sys

import pytest
from django.core.management import CommandError, call_command, execute_from_command_line

from dashboard_api.models import LinkEvent, Secret
from tests.commands import run_json
from tests.factories import SECRET, make_account, make_link

pytestmark = pytest.mark.django_db


def twice(*command):
    """Return whether each of two calls says that it changed something."""
    return [run_json(*command)["changed"] for _ in range(2)]


def test_a_link_is_revoked_once():
    link = make_link()
    assert twice("revoke_link", link.link_id, "--reason", "test") == [True, False]
    assert LinkEvent.objects.count() == 2


def test_a_secret_is_retired_and_revoked_once():
    number = str(make_account().secrets.get().pk)
    assert twice("revoke_secret", "acct_0001", number, "--retire") == [True, False]
    assert twice("revoke_secret", "acct_0001", number) == [True, False]
    with pytest.raises(CommandError, match="Only an active secret"):
        call_command("revoke_secret", "acct_0001", number, "--retire")


def test_a_secret_is_brought_in_once(monkeypatch):
    make_account(secrets=())
    results = []
    for _ in range(2):
        monkeypatch.setattr(sys, "stdin", io.StringIO(SECRET))
        results.append(run_json("issue_secret", "acct_0001", "--from-stdin")["changed"])
    assert results == [True, False]
    assert Secret.objects.count() == 1


def test_an_entitlement_that_stays_the_same_is_no_change():
    make_account()
    assert twice("set_entitlement", "acct_0001", "--plan", "gold") == [True, False]
    assert run_json("set_entitlement", "acct_0001", "--extend-days", "1")["changed"]


def test_an_error_is_json_on_standard_output_and_words_on_standard_error():
    output = io.StringIO()
    with pytest.raises(CommandError, match="There is no account acct_9999"):
        call_command("show_account", "acct_9999", "--json", stdout=output)
    assert list(json.loads(output.getvalue())) == ["error"]
    assert "There is no account acct_9999" in json.loads(output.getvalue())["error"]


def test_wrong_arguments_are_json_as_well(monkeypatch, capsys):
    arguments = ["manage.py", "show_account", "--json"]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as stop:
        execute_from_command_line(arguments)
    assert stop.value.code == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"error": "the following arguments are required: REF"}
    assert "usage:" in printed.err
