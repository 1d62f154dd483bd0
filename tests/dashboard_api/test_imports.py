"""A report's file: read before the database is locked, stored and recorded in one transaction."""

import io

import pytest
from django.db import connection

from dashboard_api.imports import Said, import_file
from dashboard_api.models import Finding, ImportRun
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_website

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_report_is_read_before_the_database_is_locked_and_stored_as_a_whole(dry_run):
    reading, storing = [], []
    import_file(
        io.BytesIO(json_lines(make_row())),
        make_website(),
        Said(),
        file_name="report.jsonl",
        by="tests",
        dry_run=dry_run,
        watch=lambda _: reading.append(connection.in_atomic_block),
        preview=lambda _: storing.append(connection.in_atomic_block),
    )
    assert set(reading) == {False}
    assert storing == [True]
    assert Finding.objects.count() == ImportRun.objects.count() == int(not dry_run)
