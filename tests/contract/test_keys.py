"""Secrets and master keys: replaced under load, refused at once when revoked, and shown nowhere."""

import io
import logging
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.core.management import call_command
from django.db import connections
from django.test import Client
from django.utils import timezone

from dashboard_api.models import Secret
from dashboard_api.queries.credentials import read_credentials
from portal.answers.service import signer_of_website
from tests.config.operations.test_environment import ONE, TWO
from tests.dashboard_api.calls import ask, fields_for
from tests.factories import (
    SECRET,
    make_link,
    make_portal_account,
    make_portal_website,
    make_user,
)

NEW = "another-secret-of-the-account-0002"


@pytest.mark.django_db(transaction=True)
def test_secret_and_master_key_are_replaced_under_load_without_a_refusal(settings):
    settings.MASTER_KEYS = [ONE]
    link = make_link()
    fields = fields_for(link)
    issued, stop = Event(), Event()

    def call_until_stopped(_):
        statuses = []
        try:
            while not stop.is_set():
                secret = NEW if issued.is_set() else SECRET
                statuses.append(ask(Client(), fields, secret=secret).status_code)
        finally:
            connections.close_all()
        return statuses

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(call_until_stopped, number) for number in range(2)]
        try:
            Secret.objects.issue(link.account, by="tests", secret=NEW)
            old = link.account.secrets.earliest("pk")
            issued.set()
            old.retire(now=timezone.now())
            settings.MASTER_KEYS = [TWO, ONE]
            call_command("reseal", stdout=io.StringIO())
        finally:
            stop.set()
        statuses = [status for each in running for status in each.result()]
    assert set(statuses) == {200}
    settings.MASTER_KEYS = [TWO]  # after the last call that may have read a secret with the old seal
    assert [ask(Client(), fields, secret=secret).status_code for secret in (SECRET, NEW)] == [200, 200]


@pytest.mark.django_db(transaction=True)
def test_a_revoked_secret_is_refused_at_once_on_every_connection():
    link = make_link()
    fields = fields_for(link)

    def call(_):
        try:
            return ask(Client(), fields).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(call, range(4))) == [200] * 4
        link.account.secrets.get().revoke(now=timezone.now())
        assert list(pool.map(call, range(4))) == [401] * 4


@pytest.mark.django_db
def test_a_secret_is_in_no_text_log_dump_or_page(client, caplog):
    caplog.set_level(logging.DEBUG)
    link = make_link()
    account = make_portal_account(link.account.ref)
    account.set_secret(SECRET)
    account.save()
    website = make_portal_website(account, link.website.host, link.link_id)
    secret = link.account.secrets.get()
    assert ask(client, fields_for(link)).status_code == 200
    refused = ask(client, fields_for(link, page=0))
    dump = io.StringIO()
    call_command("dumpdata", "dashboard_api.secret", "portal.account", stdout=dump)
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    texts = {
        "objects": repr([secret, account, signer_of_website(website), vars(secret), vars(account)]),
        "credentials": repr(read_credentials(link.account.ref, link.link_id, timezone.now())),
        "refusal": refused.content.decode(),
        "log": caplog.text,
        "dump": dump.getvalue(),
        "secret's page": client.get(f"/admin/dashboard_api/secret/{secret.pk}/change/").content.decode(),
        "account's page": client.get(
            f"/admin/dashboard_api/account/{link.account.pk}/change/"
        ).content.decode(),
    }
    assert all(texts.values())
    assert [name for name, text in texts.items() if SECRET in text] == []
