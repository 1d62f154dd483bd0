"""A secret passes from the service to the portal through a pipe, as docs/operating/customers.md describes."""

import sys

import pytest
from django.core.management import call_command

from dashboard_api.models import Secret
from portal.models import Account
from tests.factories import make_account

pytestmark = pytest.mark.django_db


def test_the_secret_that_is_issued_into_a_file_connects_the_account(tmp_path, monkeypatch):
    make_account(secrets=())
    file = tmp_path / "secret.txt"
    with file.open("w") as output:
        call_command("issue_secret", "acct_0001", stdout=output)
    with file.open() as source:
        monkeypatch.setattr(sys, "stdin", source)
        call_command("connect_account", "acct_0001")
    assert Account.objects.get().reveal_secret() == Secret.objects.get().reveal()
