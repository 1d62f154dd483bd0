"""show_account: an overview from the shell."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError
from django.utils import timezone

from dashboard_api.models import Entitlement
from tests.commands import run, run_json
from tests.dashboard_api.api.reports import make_token
from tests.factories import SECRET, make_account, make_link

pytestmark = pytest.mark.django_db


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
    assert shown["limits"][0] | {"used": 1, "state": "ok"} == shown["limits"][0]
    used = ("Limit websites: 1 of 5, ok", "Limit seats: ? of any number, ok")
    for words in (f"link id {link.link_id}", "Token", "Plan standard, active", *used):
        assert words in text
    assert not {SECRET, clear, token.digest} & set(json.dumps(shown).split('"'))
    with pytest.raises(CommandError, match="There is no account acct_9999"):
        run("show_account", "acct_9999")


def test_an_account_whose_plan_has_ended_is_shown_as_expired():
    yesterday = timezone.now().date() - timedelta(days=1)
    Entitlement.objects.filter(account=make_account()).update(ends_on=yesterday)
    assert "Plan standard, expired, " in run("show_account", "acct_0001")
    assert run_json("show_account", "acct_0001")["entitlement"]["status"] == "expired"
    assert run_json("set_entitlement", "acct_0001", "--plan", "pro")["entitlement"]["status"] == "expired"
