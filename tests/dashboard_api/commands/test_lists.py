"""list_accounts, show_account and list_imports: an overview from the shell."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError
from django.utils import timezone

from dashboard_api.models import Entitlement
from tests.commands import run, run_json
from tests.dashboard_api.api.reports import make_token
from tests.factories import SECRET, make_account, make_import_run, make_link, make_website

pytestmark = pytest.mark.django_db


def rows(name, *arguments):
    """Return the objects that the command prints, one a line."""
    return [json.loads(line) for line in run(name, *arguments, "--json").splitlines() if line]


def test_every_account_is_listed_with_its_plan_of_today():
    make_link(make_account(name="Example Shop"))
    make_account("acct_0002", entitled=False)
    first, second = rows("list_accounts")
    assert (first["account"], first["name"], first["status"], first["usable"], first["websites"]) == (
        "acct_0001", "Example Shop", "active", True, 1,
    )  # fmt: skip
    assert (second["plan"], second["usable"], second["websites"]) == (None, False, 0)
    assert "acct_0001  Example Shop  standard, active, until" in run("list_accounts")


@pytest.mark.parametrize("text", ["0001", "example", "shop.ex"])
def test_accounts_are_found_by_reference_name_or_host(text):
    make_link(make_account(name="Example Shop"))
    make_account("acct_0002")
    assert [row["account"] for row in rows("list_accounts", "--search", text)] == ["acct_0001"]
    assert run("list_accounts", "--search", "nowhere") == "There is no such account.\n"


def test_a_revoked_link_is_not_counted():
    make_link(revoked_at=timezone.now())
    assert rows("list_accounts")[0]["websites"] == 0


def test_an_account_is_shown_with_its_parts_and_without_its_secrets():
    link = make_link()
    token, clear = make_token(link, sources=["zap"])
    shown = run_json("show_account", "acct_0001")
    assert shown["entitlement"]["plan"] == "standard"
    assert [row["state"] for row in shown["secrets"]] == ["active"]
    assert [(row["host"], row["link_id"]) for row in shown["websites"]] == [
        ("shop.example.com", link.link_id)
    ]
    (row,) = shown["report_tokens"]
    assert (row["id"], row["hosts"], row["sources"]) == (token.pk, ["shop.example.com"], ["zap"])
    text = run("show_account", "acct_0001")
    for words in (f"link id {link.link_id}", "Token", "Plan standard, active"):
        assert words in text
    assert not {SECRET, clear, token.digest} & set(json.dumps(shown).split('"'))
    with pytest.raises(CommandError, match="There is no account acct_9999"):
        run("show_account", "acct_9999")


def test_an_account_whose_plan_has_ended_is_shown_as_expired():
    yesterday = timezone.now().date() - timedelta(days=1)
    Entitlement.objects.filter(account=make_account()).update(ends_on=yesterday)
    assert "Plan standard, expired, " in run("show_account", "acct_0001")
    status = run_json("show_account", "acct_0001")["entitlement"]["status"]
    assert status == rows("list_accounts")[0]["status"] == "expired"
    assert run_json("set_entitlement", "acct_0001", "--plan", "pro")["entitlement"]["status"] == "expired"


def test_the_latest_imports_are_listed_first_and_can_be_narrowed():
    link, other = make_link(), make_website("other.example.com")
    old = make_import_run(link.website, imported_at=timezone.now() - timedelta(days=1), rejected=1)
    new = make_import_run(other, rows=0, rejected=0, rejects=[])
    assert [row["id"] for row in rows("list_imports")] == [new.pk, old.pk]
    for option in (["--host", "shop.example.com"], ["--account", "acct_0001"], ["--rejected"]):
        assert [row["id"] for row in rows("list_imports", *option)] == [old.pk]
    assert [row["id"] for row in rows("list_imports", "--limit", "1")] == [new.pk]
    assert "shop.example.com  nuclei, ok: 0 new" in run("list_imports")


def test_a_website_without_imports_is_said_by_name():
    make_website()
    assert run("list_imports", "--host", "shop.example.com") == "No imports of shop.example.com.\n"
    assert run("list_imports") == "There are no such imports.\n"
