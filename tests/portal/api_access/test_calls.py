"""Owners see the signed calls of their accounts, and only those."""

import csv
import io
from datetime import date

import pytest

from portal.api_access.calls import MAX_ROWS, FileInterrupted
from signed_api.account import CALLS
from signed_api.errors import Unavailable
from tests import factories
from tests.portal.dashboards import make_call, make_calls
from tests.portal.service_answers import answer_with

pytestmark = pytest.mark.django_db
URL, FILE = "/api/calls/", "/api/calls.csv"


@pytest.fixture
def owner(client):
    """The owner of an account, who is signed in."""
    membership = factories.make_membership(factories.make_user("ada"), factories.make_portal_account())
    client.force_login(membership.user)
    return membership


@pytest.fixture
def asked(monkeypatch):
    """Record each request with its account; the fixture's ``answers`` come in turn, the last one again."""

    class Asked(list):
        answers = (make_calls(make_call()),)

        def answer(self, _service, account, request):
            self.append((account.account_ref, request))
            answer = self.answers[min(len(self), len(self.answers)) - 1]
            if isinstance(answer, Exception):
                raise answer
            return answer

    asked = Asked()
    answer_with(monkeypatch, CALLS, asked.answer)
    return asked


def text_of(client, query=""):
    response = client.get(URL + query)
    assert response.status_code == 200
    return response.content.decode()


def rows_of(response):
    return list(csv.DictReader(io.StringIO(response.getvalue().decode("utf-8-sig"))))


def test_an_owner_sees_every_fact_of_a_call(client, owner, asked):
    asked.answers = [make_calls(make_call(status=404, code="unknown_link"), make_call(2, host=None))]
    text = text_of(client)
    for words in ("site/dashboard", "shop.example.com", "404", "unknown_link", "es1_live_Ab12", "192.0.2.7"):
        assert words in text
    assert "req-1" in text
    assert "None" not in text
    [(account, request)] = asked
    assert (account, request.page_size, request.before) == ("acct_0001", 50, "")


@pytest.mark.parametrize("role", ["manager", "viewer", None])
def test_other_members_and_strangers_cause_no_call(client, owner, asked, role):
    user = factories.make_user("bob")
    if role:
        factories.make_membership(user, owner.account, role)
    client.force_login(user)
    assert "Only owners see this page" in text_of(client)
    assert client.get(FILE).status_code == 404
    assert asked == []


def test_an_owner_of_several_accounts_chooses_one_of_them_and_no_other(client, owner, asked):
    second = factories.make_portal_account("acct_0002", name="Second Bakery")
    factories.make_membership(owner.user, second)
    factories.make_portal_account("acct_0003", name="Canary Bakery")
    text = text_of(client, "?account=acct_0002")
    assert "Second Bakery" in text
    assert "Canary" not in text
    assert asked[0][0] == "acct_0002"
    for url in (URL, FILE):
        assert client.get(url, {"account": "acct_0003"}).status_code == 400
    assert len(asked) == 1


def test_the_other_tab_leads_there_and_causes_no_call(client, owner, asked):
    assert f'href="{URL}"' in client.get("/api/").text
    assert asked == []
    manager = factories.make_membership(factories.make_user("bob"), owner.account, "manager")
    client.force_login(manager.user)
    assert f'href="{URL}"' not in client.get("/api/").text


def test_filters_and_the_next_page_are_those_of_the_request(client, owner, asked):
    asked.answers = [make_calls(make_call(), before="1763370000123456.abc")]
    text = text_of(client, "?day=2026-11-20&outcome=refused")
    assert (asked[0][1].day, asked[0][1].outcome) == (date(2026, 11, 20), "refused")
    query = text.partition(f'rel="next" href="{URL}')[2].partition('"')[0].replace("&amp;", "&")
    text_of(client, query)
    assert (asked[1][1].before, asked[1][1].day) == ("1763370000123456.abc", date(2026, 11, 20))
    text_of(client, "?before=now")
    assert asked[2][1].before == ""
    for wrong in ("?day=yesterday", "?outcome=fine"):
        assert client.get(URL + wrong).status_code == 400


def test_without_a_call_the_page_says_so(client, owner, asked):
    asked.answers = [make_calls()]
    text = text_of(client)
    assert "No call matches these filters." in text
    assert "Export as CSV" not in text


@pytest.mark.parametrize("url", [URL, FILE])
def test_an_outage_is_a_page_in_plain_words_with_the_filters(client, owner, asked, url):
    asked.answers = [Unavailable(retry_after=7, request_id="r")]
    response = client.get(url, {"outcome": "refused"})
    assert response.status_code == 503
    assert response["Retry-After"] == "7"
    assert "The service cannot be reached" in response.content.decode()
    assert f'href="{url}?outcome=refused"' in response.content.decode()


def test_the_file_has_the_calls_of_all_pages_and_no_formula(client, owner, asked):
    asked.answers = [
        make_calls(make_call(1, route="=cmd()", address="@x"), before="1.a"),
        make_calls(make_call(2, status=429, code="rate_limited")),
    ]
    response = client.get(FILE, {"day": "2026-11-20", "before": "9.z"})
    first, second = rows_of(response)
    assert (first["call"], first["address"], first["time"]) == (
        "'=cmd()",
        "'@x",
        "2026-11-20T09:30:00.000000Z",
    )
    assert (second["status"], second["code"], second["secret_id"]) == ("429", "rate_limited", "7")
    assert [(request.before, request.day, request.page_size) for _, request in asked] == [
        ("", date(2026, 11, 20), 1_000),
        ("1.a", date(2026, 11, 20), 1_000),
    ]
    assert response["Content-Disposition"].startswith('attachment; filename="calls-')
    assert response["Cache-Control"] == "private, no-store"


def test_a_file_that_breaks_off_fails_and_says_so(client, owner, asked):
    asked.answers = [make_calls(make_call(), before="1.a"), Unavailable(retry_after=7)]
    chunks = iter(client.get(FILE))
    assert b"req-1" in next(chunks)
    assert b"INCOMPLETE" in next(chunks)
    with pytest.raises(FileInterrupted):
        next(chunks)


def test_a_file_takes_at_most_ten_calls_and_says_that_there_are_more(client, owner, asked):
    asked.answers = [make_calls(make_call(), before="1.a")]
    *_, last = client.get(FILE).getvalue().decode().splitlines()
    assert len(asked) == 10
    assert f"INCOMPLETE: a file has at most {MAX_ROWS:,} calls." in last
