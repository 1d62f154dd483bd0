"""Every vector's expectation, through the endpoint."""

import pytest

from dashboard_api.api import request
from tests.dashboard_api.calls import post
from tests.es1.vectors import ACCOUNTS, SERVER_NOW, VECTORS, body_of
from tests.factories import make_account, make_entitlement, make_link, make_source, make_website

pytestmark = pytest.mark.django_db


@pytest.fixture
def vector_accounts(monkeypatch):
    monkeypatch.setattr(request.time, "time", lambda: SERVER_NOW)
    make_source("engine-a")
    for row in ACCOUNTS:
        account = make_account(row["portal_account_ref"], secrets=row["active_secrets"], entitled=False)
        make_entitlement(account, starts_on="2026-01-01", ends_on="2026-12-31")
        for link in row["links"]:
            make_link(account, make_website(link["host"]), link_id=link["link_id"])


@pytest.mark.parametrize("name", VECTORS)
def test_endpoint_answers_as_the_vector_expects(client, vector_accounts, name):
    vector = VECTORS[name]
    headers = {
        "x-service-timestamp": vector["timestamp"],
        "x-service-nonce": vector["nonce"],
        "x-service-signature": vector["signature"],
    }
    response = post(client, body_of(vector), headers, path=vector["path"])
    assert response.status_code == vector["expect"]["status"], response.content
    assert response.json().get("error", {}).get("code") == vector["expect"]["code"]
