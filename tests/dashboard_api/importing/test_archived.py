"""Reports about an archived website: refused before they are read, or before they are stored."""

import io

import pytest
from django.utils import timezone

from dashboard_api.importing.service import ImportOptions, RefusedReport, import_file
from dashboard_api.models import ImportRun, Website
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_website

pytestmark = pytest.mark.django_db


def bring(website, on_read):
    file = io.BytesIO(json_lines(make_row()))
    import_file(file, website, ImportOptions(file_name="report", by="tests", on_read=on_read))


def archive(*_):
    website = Website.objects.get()
    if website.archived_at is None:
        website.archive(by="ada", reason="Contract ended", now=timezone.now())


def test_a_report_about_an_archived_website_is_not_read():
    make_website()
    archive()
    with pytest.raises(RefusedReport, match="take it out of the archive in the admin first"):
        bring(Website.objects.get(), lambda _: pytest.fail("It was read."))


def test_a_website_archived_while_its_report_is_read_gets_no_import():
    website = make_website()
    with pytest.raises(RefusedReport, match="take it out of the archive in the admin first"):
        bring(website, archive)
    assert not ImportRun.objects.exists()


def test_a_website_deleted_while_its_report_is_read_gets_no_import():
    website = make_website()
    with pytest.raises(RefusedReport, match="was deleted meanwhile"):
        bring(website, lambda _: Website.objects.all().delete())
    assert not ImportRun.objects.exists()
