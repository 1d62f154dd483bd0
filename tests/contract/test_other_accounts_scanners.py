"""A scanner imported for one account stays hidden from others until an operator enables it."""

import html

import pytest
from django.test import Client

from dashboard_api.models import Source
from portal.models import Website
from tests import routes
from tests.dashboard_api.calls import CHANGES_PATH, FINDING_PATH, ask, fields_for
from tests.dashboard_api.importing.test_service import bring
from tests.dashboard_api.scanners.samples import make_result
from tests.factories import make_link, make_website

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "canaryscan"


def bring_from(host, tool="Canaryscan"):
    """Import a report of ``tool`` about another website."""
    place = {"physicalLocation": {"artifactLocation": {"uri": f"https://{host}/"}}}
    website = make_website(host)
    bring(website, (tool, [make_result(locations=[place])]))
    return website


@pytest.fixture
def theirs(link):
    """Another account's website, for which the canary was imported."""
    return bring_from("theirs.example.net")


def answers(link):
    """Return every kind of response to the account of ``link``."""
    finding = str(link.website.findings.first().pk)
    for fields in ({}, {"status": "all"}, {"query": "finding"}, {"severity": "High", "kind": "confirmed"}):
        yield ask(Client(), fields_for(link, **fields))
    yield ask(Client(), fields_for(link, finding_id=finding), path=FINDING_PATH)
    yield ask(Client(), fields_for(link), path=CHANGES_PATH)


def pages(client, link):
    """Return every page that a member can open without a form."""
    website, finding = Website.objects.get(), link.website.findings.first()
    for path in dict.fromkeys(routes.every_path(str=website.host)):
        if not path.startswith(("/admin/", "/v1/")):
            yield path, client.get(path, follow=True)
    for query in ("?status=all", "?query=finding", f"?source={link.website.findings.first().source.slug}"):
        yield query, client.get(f"/sites/{website.host}/{query}")
    yield "finding", client.get(f"/sites/{website.host}/findings/{finding.pk}/")


def text_of(response):
    return html.unescape(b"".join(response).decode(errors="replace")).lower()


def test_no_page_file_or_answer_of_an_account_names_anothers_scanner(owner, link, theirs):
    for path, response in pages(owner, link):
        assert CANARY not in text_of(response), path
    for response in answers(link):
        assert response.status_code == 200
        assert CANARY not in text_of(response)


def test_the_canary_is_found_where_it_was_imported(owner, link, theirs):
    assert CANARY in text_of(ask(Client(), fields_for(make_link(link.account, theirs))))


def test_a_filter_by_anothers_scanner_is_refused_as_one_by_an_unknown_scanner(link, theirs):
    known, unknown = (ask(Client(), fields_for(link, source=source)) for source in (CANARY, "nosuchscan"))
    assert known.status_code == unknown.status_code == 400
    messages = [each.json()["error"]["errors"][0]["message"] for each in (known, unknown)]
    assert messages[0].replace(CANARY, "nosuchscan") == messages[1]
    assert CANARY not in messages[0].partition(";")[2]


def test_a_page_of_a_filter_by_an_unknown_scanner_says_so(owner, link):
    page = owner.get(f"/sites/{link.website.host}/?source=nosuchscan")
    assert page.status_code == 400
    assert "a scanner that this website does not have" in page.text


def test_a_clean_website_is_not_missing_anothers_scanner(link, theirs):
    coverage = ask(Client(), fields_for(link)).json()["coverage"]
    assert [(entry["source"], entry["state"]) for entry in coverage] == [("nuclei", "ok")]


@pytest.mark.parametrize("tool", ["Nuclei", "ZAP", "Canaryscan"])
def test_every_scanner_starts_as_expected_of_its_own_websites_alone(tool):
    bring_from("first.example.net", tool)
    assert not Source.objects.filter(enabled=True).exists()


def test_a_scanner_that_an_operator_enabled_is_expected_of_every_website(link, theirs):
    Source.objects.filter(slug=CANARY).update(enabled=True)
    states = {e["source"]: e["state"] for e in ask(Client(), fields_for(link)).json()["coverage"]}
    assert states == {"nuclei": "ok", CANARY: "never"}
    bring_from("third.example.net")
    assert Source.objects.get(slug=CANARY).enabled
