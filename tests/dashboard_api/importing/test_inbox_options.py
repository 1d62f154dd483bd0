"""Options of reports that files of the inbox give."""

from datetime import UTC, datetime

import pytest

from dashboard_api.importing.inbox_options import MAX_BYTES, WrongOptions, options_in
from dashboard_api.models import Coverage, Finding, ImportRun
from tests.dashboard_api.importing.inbox_folder import (
    HOST,
    import_all,
    leave,
    names,
    output_of_refusal,
    write,
)
from tests.dashboard_api.scanners.samples import make_row
from tests.factories import make_website

pytestmark = pytest.mark.django_db
PANEL = make_row(timestamp=None)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-31T14:00:00Z", datetime(2026, 1, 31, 14, tzinfo=UTC)),
        ("2026-01-31 15:00:00+01:00", datetime(2026, 1, 31, 14, tzinfo=UTC)),
        ("2026-01-31T14:00:00", datetime(2026, 1, 31, 14, tzinfo=UTC)),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_toml_writes_them(text, moment):
    assert options_in(f"scanned_at = {text}".encode(), is_sidecar=True) == {"scanned_at": moment}


def test_every_option_may_be_said():
    data = b'format = "zap"\ncomplete = true\nbase_url = "https://{host}/app/"\n'
    assert options_in(data, is_sidecar=False) == {
        "format_name": "zap",
        "complete": True,
        "base_url": "https://{host}/app/",
    }
    data = b'targets = ["www.example.com:8443"]\ncategory = "nightly"'
    assert options_in(data, is_sidecar=False) == {"targets": ["www.example.com:8443"], "category": "nightly"}
    assert options_in(b"", is_sidecar=True) == {}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"complet = true", "says 'complet', which is not an option: did you mean complete"),
        (b"colour = 1", "it may say format, complete, scanned_at, base_url, targets, category"),
        (b"[import]\ncomplete = true", "says 'import', which is not an option"),
        (b'complete = "true"', "must be true or false, without quotes"),
        (b'format = "nexpose"', "which must be one of auto, findings, csv"),
        (b"format = 1", "which must be one of"),
        (b'scanned_at = "2026-01-31"', "must be a time such as 2026-01-31T14:00:00Z, without quotes"),
        (b"scanned_at = 2999-01-01", "is in the future"),
        (b"scanned_at = 0001-01-01T00:00:00+05:00", "is out of range"),
        (b'base_url = "shop.example.com"', "must start with http"),
        (b'targets = "www.example.com"', "must be a list such as"),
        (b"targets = [1]", "must be a list such as"),
        (b"category = 1", "must be a name of at most 200 letters"),
        (b'category = "' + b"a" * 201 + b'"', "must be a name of at most 200 letters"),
        (b"complete: true", "is not TOML: "),
        (b"\xff", "is not UTF-8"),
        (b"#" * (MAX_BYTES + 1), "is too large"),
        (b"a = " + b"[" * 60_000, "is not TOML"),
    ],
)
def test_what_is_wrong_says_what_to_write(data, reason):
    with pytest.raises(WrongOptions) as error:
        options_in(data, is_sidecar=True)
    assert reason in str(error.value)


def test_a_time_is_not_said_for_a_whole_folder():
    with pytest.raises(WrongOptions, match=r"next to the report, such as report\.json\.toml"):
        options_in(b"scanned_at = 2026-01-31", is_sidecar=False)


@pytest.fixture
def folder(tmp_path, db):
    make_website()
    (tmp_path / HOST).mkdir()
    return tmp_path


def test_a_folder_gives_options_for_all_its_reports(folder):
    make_website("example.com")
    leave(folder, PANEL)
    leave(folder, make_row(matched_at="https://example.com/"), host="example.com")
    write(folder / HOST / "import.toml", b"complete = true\n")
    import_all(folder)
    assert dict(Coverage.objects.values_list("website__host", "state")) == {
        HOST: "ok",
        "example.com": "partial",
    }
    assert f"{HOST}/import.toml" in names(folder)


def test_a_sidecar_counts_more_than_its_folder_and_that_more_than_the_command(folder):
    write(folder / HOST / "import.toml", b'complete = false\nbase_url = "https://{host}/app/"')
    leave(folder, make_row(matched_at="/login", timestamp=None), age=300)
    leave(folder, make_row(template_id="other"), name="b.jsonl", options="complete = true\n")
    import_all(folder, "--complete", "--base-url", "https://example.org/")
    assert list(ImportRun.objects.order_by("id").values_list("state", flat=True)) == ["partial", "ok"]
    assert Finding.objects.filter(location="https://shop.example.com/login").exists()


def test_a_sidecar_says_when_the_scan_was_and_moves_with_its_report(folder):
    leave(folder, make_row(), options='scanned_at = 2026-01-31\nformat = "nuclei"')
    import_all(folder)
    assert ImportRun.objects.get().scanned_at == datetime(2026, 1, 31, tzinfo=UTC)
    assert names(folder) == [f"{HOST}/done/a.jsonl", f"{HOST}/done/a.jsonl.toml"]
    leave(folder, make_row(matched_at="https://example.com/"), options="complete = true")
    leave(folder, make_row(matched_at="https://example.com/"), name="b.jsonl", options="complete = true")
    output_of_refusal(folder)
    assert names(folder)[2:] == [
        f"{HOST}/failed/{report}{suffix}"
        for report in ("a.jsonl", "b.jsonl")
        for suffix in ("", ".toml", ".why.txt")
    ]


def test_a_moved_sidecar_keeps_its_report_where_the_name_is_taken(folder):
    for _ in range(2):
        leave(folder, PANEL)
        import_all(folder)
    leave(folder, PANEL, options="complete = true")
    import_all(folder)
    assert (folder / HOST / "done" / "a-3.jsonl").exists()
    assert (folder / HOST / "done" / "a-3.jsonl.toml").read_text() == "complete = true"


@pytest.mark.parametrize("name", ["a.jsonl.toml", "import.toml"])
def test_a_misspelt_option_leaves_the_report_where_it_is_until_it_is_right(folder, name):
    report = leave(folder, PANEL)
    options = folder / HOST / name
    write(options, b"complet = true")
    message = f"{HOST}/a.jsonl: {name} says 'complet', which is not an option: did you mean complete."
    assert message in output_of_refusal(folder)
    assert report.exists()
    assert not ImportRun.objects.exists()
    write(options, b"complete = true")
    import_all(folder)
    assert ImportRun.objects.get().state == "ok"


@pytest.mark.parametrize("name", ["a.jsonl.toml", "import.toml"])
def test_options_that_may_still_be_written_are_waited_for(folder, name):
    leave(folder, PANEL)
    write(folder / HOST / name, b"", age=5)
    assert import_all(folder) == "Waiting for a later run, because they changed within the last minute: 1.\n"
    write(folder / HOST / name, b"complete = true", age=-3600)  # a time of the future is no reason to wait
    import_all(folder)
    assert ImportRun.objects.get().state == "ok"


def test_a_base_address_of_another_website_is_refused_with_its_reason(folder):
    report = leave(folder, PANEL, options='base_url = "https://example.org/"')
    assert "The base address https://example.org/ is of example.org, which is" in output_of_refusal(folder)
    assert report.exists()


def test_a_target_of_another_website_is_refused_with_its_reason(folder):
    report = leave(folder, PANEL, options='targets = ["www.shop.example.com", "example.org"]')
    assert "The target example.org is of example.org, which is" in output_of_refusal(folder)
    assert report.exists()


def test_a_scan_that_found_nothing_closes_what_its_target_had_in_its_category_alone(folder):
    for number, category in enumerate(("web", "web", "api")):
        host = "www.shop.example.com" if number else HOST
        row = make_row(template_id=f"problem-{number}", matched_at=f"https://{host}/", timestamp=None)
        leave(folder, row, name=f"{number}.jsonl", options=f'category = "{category}"', age=900 - 60 * number)
    options = 'complete = true\nformat = "nuclei"\ncategory = "web"\ntargets = ["www.shop.example.com"]'
    leave(folder, name="last.jsonl", options=options)
    import_all(folder)
    fixed = Finding.objects.filter(status="fixed").values_list("rule", flat=True)
    assert list(fixed) == ["problem-1"]


def test_a_sidecar_alone_waits_for_its_report(folder):
    write(folder / HOST / "a.jsonl.toml", b"complete = true")
    assert import_all(folder) == "There are no reports to import.\n"
    leave(folder, PANEL)
    assert ": ok." in import_all(folder)
