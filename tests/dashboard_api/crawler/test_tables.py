"""Tables of facts grow old, and doctor says so."""

from datetime import date, timedelta

import pytest

from dashboard_api import problems
from dashboard_api.crawler import tables

CHECKED = min(tables._TABLES.values())


def test_a_table_that_is_older_than_six_months_is_named():
    assert [*tables.problems(CHECKED + tables.OLD_AFTER)] == []
    [line] = tables.problems(CHECKED + tables.OLD_AFTER + timedelta(days=1))
    assert "platforms that others can take over (2026-11-01)" in line
    assert "JavaScript libraries" not in line
    [line] = tables.problems(date(2030, 1, 1))
    assert all(name in line for name in tables._TABLES)


@pytest.mark.django_db
def test_doctor_says_so_where_scans_run(settings):
    settings.RETIREJS_FILE = "/nowhere/retire.json"
    for is_enabled in (True, False):
        settings.CRAWLER_ENABLED = is_enabled
        assert any("RETIREJS_FILE" in line for line in problems.problems()) is is_enabled


@pytest.mark.parametrize(("content", "why"), [("{}", "no library"), (None, "No such file")])
def test_a_wrong_file_of_retirejs_is_named_with_its_fault(settings, tmp_path, content, why):
    file = tmp_path / "retire.json"
    if content is not None:
        file.write_text(content)
    settings.RETIREJS_FILE = str(file)
    [line] = tables.problems(CHECKED)
    assert line.startswith("RETIREJS_FILE is not used")
    assert why in line
