"""A report uploaded in the admin: shown first, then imported or forgotten."""

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from dashboard_api import limits
from dashboard_api.models import Finding, ImportRun, Upload
from tests.dashboard_api.scanners.samples import json_lines, make_result, make_row, make_tools
from tests.factories import make_user, make_website

pytestmark = pytest.mark.django_db
FOREIGN = make_row(matched_at="https://example.com/")


@pytest.fixture
def website():
    return make_website()


@pytest.fixture
def operator(client):
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    return client


def upload(client, website, *rows, **options):
    report = SimpleUploadedFile("report.jsonl", json_lines(*rows) if rows else b"")
    path = reverse("admin:dashboard_api_website_import", args=[website.pk])
    return client.post(path, {"report": report, "format_name": "auto"} | options, follow=True)


def preview_of(response):
    return response.redirect_chain[-1][0]


def texts(response):
    return [str(message) for message in response.context["messages"]]


def test_an_upload_shows_what_it_would_change_and_changes_nothing(operator, website):
    page = upload(operator, website, make_row(), FOREIGN)
    for words in ("Rows: 2.", "rejected: 1.", "New: 1,", "High: Exposed panel", "Row 2 is of example.com"):
        assert words in page.text
    assert not Finding.objects.exists()
    assert not ImportRun.objects.exists()


def test_what_would_be_fixed_and_open_again_is_named(operator, website):
    upload_and_apply(operator, website, make_row(), make_row(template_id="other"))
    gone = Finding.objects.get(rule="exposed-panel")
    later = {"timestamp": "2026-03-02T00:00:00Z"}
    page = upload(operator, website, make_row(template_id="other", **later), complete="on")
    assert f"<h2>Fixed</h2>\n<ul><li>{gone} ({gone.location})</li></ul>" in page.text
    operator.post(preview_of(page), {"apply": ""})
    page = upload(operator, website, make_row(timestamp="2026-03-03T00:00:00Z"))
    assert f"<h2>Reopened</h2>\n<ul><li>{gone} ({gone.location})</li></ul>" in page.text


def upload_and_apply(client, website, *rows, **options):
    return client.post(preview_of(upload(client, website, *rows, **options)), {"apply": ""}, follow=True)


def test_an_upload_is_imported_once_and_forgotten(operator, website):
    done = upload_and_apply(operator, website, make_row())
    assert "New: 1, updated: 0, reopened: 0, fixed: 0." in texts(done)
    assert (ImportRun.objects.get().by, ImportRun.objects.get().file_name) == ("ada", "report.jsonl")
    assert not Upload.objects.exists()
    assert Finding.objects.get().website == website


def test_a_file_with_reports_of_several_tools_is_shown_and_imported_as_a_whole(operator, website):
    tools = make_tools(("One", [make_result()]), ("Two", [make_result(ruleId="other")]))
    page = upload(operator, website, tools)
    for words in ("one on shop.example.com", "two on shop.example.com"):
        assert words in page.text
    assert page.text.count("<li>High: The address is not checked.") == 2
    assert not Finding.objects.exists()
    operator.post(preview_of(page), {"apply": ""})
    assert sorted(ImportRun.objects.values_list("source__slug", "new")) == [("one", 1), ("two", 1)]


def test_an_upload_can_be_given_up(operator, website):
    operator.post(preview_of(upload(operator, website, make_row())), {"discard": ""})
    assert not Upload.objects.exists()
    assert not Finding.objects.exists()


def test_what_the_operator_says_is_heard(operator, website):
    page = upload(
        operator,
        website,
        make_row(matched_at="/login"),
        complete="on",
        scanned_at="2026-03-05 08:00",
        base_url="https://shop.example.com/",
    )
    assert "scanned 2026-03-05 08:00 UTC: ok." in page.text


@pytest.mark.parametrize(
    ("rows", "advice"),
    [
        ([b"hello"], "not a report of a known format"),
        ([b"PK\x03\x04"], "a zip archive, or an office document. Unpack it"),
        ([FOREIGN], "Every row was rejected"),
        ([], "tick &quot;Complete&quot; and choose &quot;Format&quot;"),
    ],
)
def test_a_report_that_is_refused_says_why_and_cannot_be_applied(operator, website, rows, advice):
    page = upload(operator, website, *rows)
    assert advice in page.text
    assert "--complete" not in page.text
    assert 'name="apply"' not in page.text
    operator.post(preview_of(page), {"apply": ""})
    assert not ImportRun.objects.exists()


def test_what_is_too_large_is_refused_with_what_to_do(operator, website, monkeypatch):
    monkeypatch.setattr(limits, "MAX_UPLOAD_BYTES", 10)
    page = upload(operator, website, make_row())
    assert "use manage.py import_report" in page.text
    assert not Upload.objects.exists()


def test_the_base_address_must_be_the_websites(operator, website):
    page = upload(operator, website, make_row(), base_url="https://example.com/")
    assert "It is of example.com, which is neither" in page.text


def test_an_upload_is_its_uploaders_alone(operator, website, client):
    path = preview_of(upload(operator, website, make_row()))
    client.force_login(make_user("grace", is_staff=True, is_superuser=True))
    assert client.get(path).status_code == 404
    assert client.post(path, {"apply": ""}).status_code == 404


def test_only_who_may_import_is_offered_it(client, website):
    grace = make_user("grace", is_staff=True)
    grace.user_permissions.set(Permission.objects.filter(codename__in=["view_website", "change_website"]))
    client.force_login(grace)
    change = reverse("admin:dashboard_api_website_change", args=[website.pk])
    assert "Import a report" not in client.get(change).text
    assert upload(client, website, make_row()).status_code == 403
    grace.user_permissions.add(Permission.objects.get(codename="add_importrun"))
    assert "Import a report" in client.get(change).text
    assert upload(client, website, make_row()).status_code == 200


def test_targets_and_a_category_are_said_in_boxes_of_their_own(operator, website):
    place = "https://www.shop.example.com/"
    upload_and_apply(operator, website, make_row(matched_at=place), category="web")
    later = {"format_name": "nuclei", "complete": "on", "scanned_at": "2026-04-01 00:00"}
    later |= {"targets": "www.shop.example.com:443"}
    assert "fixed: 0." in upload(operator, website, **later).text
    assert "fixed: 1." in upload(operator, website, **later | {"category": "web"}).text
    page = upload(operator, website, make_row(), targets="example.com")
    assert "It is of example.com" in page.text
