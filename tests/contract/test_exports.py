"""Files from the real endpoint: every page of one list, and nothing else."""

import csv
import io
import json

import pytest
from django.utils import timezone

from dashboard_api.decisions import triage
from dashboard_api.models import Entitlement, Finding, Severity
from portal.answers import service
from portal.exports.files import ExportInterrupted
from tests.factories import make_finding, make_website
from tests.portal.exports.sarif import check

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/sites/shop.example.com/"


def body_of(response):
    return b"".join(response.streaming_content).decode()


@pytest.fixture
def many(link):
    """Create 215 more findings, and another account's website with as many."""
    for number in range(215):
        make_finding(link.website, severity=Severity.LOW, title=f"Low no{number}", cwe=[200], rule="low")
    make_finding(make_website("other.example.com"), title="Elsewhere")
    return link


def test_every_format_holds_every_finding_once_and_worst_first(owner, many):
    ids = [str(finding.pk) for finding in many.website.findings.filter(status="open").worst_first()]
    table = csv.DictReader(io.StringIO(body_of(owner.get(f"{PATH}findings.csv")).removeprefix("\ufeff")))
    assert [row["id"] for row in table] == ids
    file = json.loads(body_of(owner.get(f"{PATH}findings.json")))
    assert [threat["id"] for threat in file["threats"]] == ids
    log = check(json.loads(body_of(owner.get(f"{PATH}findings.sarif"))))
    assert [result["properties"]["id"] for result in log["results"]] == ids


def test_every_format_says_what_an_analyst_confirmed(owner, link):
    finding = make_finding(link.website, kind="suspected", title="Reproduced by hand")
    triage.confirm(finding, by="ada", reason="We looked.", now=timezone.now())
    query = {"query": "reproduced by hand"}
    assert "Verified by an analyst" in owner.get(PATH, query).text
    table = csv.DictReader(
        io.StringIO(body_of(owner.get(f"{PATH}findings.csv", query)).removeprefix("\ufeff"))
    )
    assert [(row["kind"], row["verified"]) for row in table] == [("confirmed", "true")]
    (threat,) = json.loads(body_of(owner.get(f"{PATH}findings.json", query)))["threats"]
    assert threat["verified"] is True
    log = check(json.loads(body_of(owner.get(f"{PATH}findings.sarif", query))))
    assert log["results"][0]["properties"]["verified"] is True


def test_a_plan_without_any_feature_has_exports_and_notes(owner, link):
    Entitlement.objects.update(features=[])
    assert body_of(owner.get(f"{PATH}findings.csv")).count("\n") > 30
    assert owner.get(f"{PATH}report.pdf").content.startswith(b"%PDF-")
    assert "Update <strong>soon</strong>." in owner.get(PATH).text


def test_a_file_holds_the_matches_of_the_filters(owner, many):
    file = json.loads(body_of(owner.get(f"{PATH}findings.json", {"severity": "Low", "query": "low no21"})))
    assert len(file["threats"]) == file["dashboard"]["total"] == 6  # 21 and 210 to 214
    fixed = json.loads(body_of(owner.get(f"{PATH}findings.json", {"status": "fixed"})))
    assert [threat["status"] for threat in fixed["threats"]] == ["fixed"]


def test_a_change_between_two_pages_interrupts_the_file(owner, many, monkeypatch):
    def ask(website, question):
        if question.page == 2:
            Finding.objects.filter(title="Low no3").update(severity=Severity.CRITICAL)
        return asked(website, question)

    asked = service.get_dashboard
    monkeypatch.setattr(service, "get_dashboard", ask)
    with pytest.raises(ExportInterrupted):
        body_of(owner.get(f"{PATH}findings.csv"))


def test_a_report_and_its_pdf_have_the_same_findings(owner, many):
    page = owner.get(f"{PATH}report/", {"query": "cafe"})
    assert b"Caf\xc3\xa9 login" in page.content
    pdf = owner.get(f"{PATH}report.pdf", {"query": "cafe"})
    assert pdf.content.startswith(b"%PDF-")
