"""The life of a report in the inbox: taken in the order of the scans, once, and only when it is whole."""

import gzip
import io
import json
import os
import time
from datetime import UTC, datetime

import pytest
from django.utils import timezone

from dashboard_api.importing import inbox
from dashboard_api.importing.inbox_files import Folder
from dashboard_api.models import Finding, FindingEvent, ImportRun
from tests.dashboard_api.importing.inbox_folder import (
    HOST,
    import_all,
    leave,
    names,
    output_of_refusal,
    refused,
    write,
)
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_website

pytestmark = pytest.mark.django_db
DAY = 86_400
FOREIGN = make_row(matched_at="https://example.com/")
PANEL = make_row(timestamp=None)
OTHER = make_row(timestamp=None, template_id="other")


@pytest.fixture(autouse=True)
def website():
    return make_website()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / HOST).mkdir()
    return tmp_path


def test_a_problem_that_comes_back_in_identical_bytes_has_regressed(folder):
    leave(folder, PANEL, name="monday.jsonl", age=3 * DAY)
    leave(folder, OTHER, name="tuesday.jsonl", age=2 * DAY)
    import_all(folder, "--complete")
    assert Finding.objects.get(rule="exposed-panel").status == "fixed"
    leave(folder, PANEL, name="wednesday.jsonl", age=DAY)
    assert "reopened: 1" in import_all(folder, "--complete")
    finding = Finding.objects.get(rule="exposed-panel")
    assert finding.status == "open"
    assert finding.events.filter(event=FindingEvent.Event.REGRESSED).count() == 1


def test_an_unchanged_website_is_not_overdue(website, folder):
    for age in (9 * DAY, 2 * DAY):
        leave(folder, PANEL, age=age)
        import_all(folder)
    (coverage,) = website.coverage.all()
    assert (datetime.now(UTC) - coverage.last_run_at).days == 2


def test_the_files_time_is_the_scans_where_the_report_names_none(folder):
    file = leave(folder, PANEL, age=DAY)
    modified = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    import_all(folder)
    assert abs(ImportRun.objects.get().scanned_at - modified).total_seconds() < 0.01
    leave(folder, make_row(template_id="dated"), age=DAY)
    import_all(folder)
    assert ImportRun.objects.latest("id").scanned_at.isoformat() == "2026-03-01T08:00:00.123456+00:00"


def test_a_file_longer_than_any_report_is_refused_before_it_is_read(folder, monkeypatch):
    """It may be full of holes, which take no space on the disk, and hours to read."""
    file = leave(folder, PANEL)
    modified = file.stat().st_mtime
    os.truncate(file, 2**40)
    os.utime(file, (modified, modified))
    for reader in ("digest_of", "import_file"):
        monkeypatch.setattr(inbox, reader, lambda *_args, **_options: pytest.fail("it was read"))
    assert "larger than 4096 MB" in output_of_refusal(folder)


def test_reports_are_taken_in_the_order_of_the_scans_whatever_their_names(folder):
    make_website("example.com")
    leave(folder, make_row(timestamp=None, matched_at="/"), name="m.jsonl", host="example.com", age=300)
    leave(folder, PANEL, name="a.jsonl", age=200)
    leave(folder, PANEL, name="z.jsonl", age=400)
    leave(folder, PANEL, name="late.jsonl", age=500, options="scanned_at = 2026-01-01T00:00:00Z")
    output = import_all(folder, "--base-url", "https://{host}/")
    files = list(dict.fromkeys(line.split(":")[0] for line in output.splitlines()))
    assert files == [f"{HOST}/late.jsonl", f"{HOST}/z.jsonl", "example.com/m.jsonl", f"{HOST}/a.jsonl"]


def test_the_same_bytes_and_time_are_one_import_however_often_they_are_put_there(folder):
    file = leave(folder, PANEL)
    status = file.stat()
    for _ in range(2):
        import_all(folder)
        file.write_bytes(json_lines(PANEL))
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert import_all(folder) == f"{HOST}/a.jsonl: It was imported before.\n"
    assert ImportRun.objects.count() == 1
    assert names(folder) == [f"{HOST}/done/{name}" for name in ("a-2.jsonl", "a-3.jsonl", "a.jsonl")]


def test_a_crash_between_the_import_and_the_move_repeats_nothing_also_with_a_sidecar(folder, monkeypatch):
    leave(folder, PANEL, options="complete = true")
    rename = os.rename
    moved = []

    def crash_between_the_two(source, *arguments, **options):
        if moved:
            raise KeyboardInterrupt
        moved.append(source)
        rename(source, *arguments, **options)

    monkeypatch.setattr(os, "rename", crash_between_the_two)
    with pytest.raises(KeyboardInterrupt):
        import_all(folder)
    monkeypatch.undo()
    assert "It was imported before." in import_all(folder)
    assert ImportRun.objects.count() == 1
    # Otherwise the sidecar would count for the next report of this name.
    assert not (folder / HOST / "a.jsonl.toml").exists()


def test_a_report_from_the_time_of_a_former_owner_is_not_shown_to_the_new_one(website, folder):
    leave(folder, PANEL, name="former.jsonl", age=DAY)
    website.retire(now=timezone.now())
    make_website()
    assert "former owner" in output_of_refusal(folder)
    assert not Finding.objects.exists()


def test_refused_reports_never_share_an_explanation(folder):
    leave(folder, FOREIGN, name="a.json")
    leave(folder, name="a.xml")
    refused(folder)
    leave(folder, make_row(matched_at="https://example.org/"), name="a.json")
    refused(folder)
    failed = folder / HOST / "failed"
    why = {file.name: file.read_text() for file in failed.glob("*.why.txt")}
    assert sorted(why) == ["a-2.json.why.txt", "a.json.why.txt", "a.xml.why.txt"]
    assert "of example.com" in why["a.json.why.txt"]
    assert "of example.org" in why["a-2.json.why.txt"]
    assert "is empty" in why["a.xml.why.txt"]
    for name in why:
        assert (failed / name.removesuffix(".why.txt")).is_file()


def test_a_report_with_the_name_of_an_explanation_overwrites_none(folder):
    leave(folder, FOREIGN, name="a.json")
    refused(folder)
    leave(folder, FOREIGN, name="a.json.why.txt")
    refused(folder)
    failed = folder / HOST / "failed"
    assert "Row 1 is of example.com" in (failed / "a.json.why.txt").read_text()
    assert json.loads((failed / "a.json.why-2.txt").read_text()) == FOREIGN
    assert "Row 1 is of" in (failed / "a.json.why-2.txt.why.txt").read_text()


def test_a_name_as_long_as_names_may_be_is_shortened_for_its_explanation(folder):
    leave(folder, FOREIGN, name="ü" * 125 + ".json")
    refused(folder)
    (report, why) = sorted((folder / HOST / "failed").iterdir(), key=lambda file: len(file.name))
    assert why.name == f"{report.name}.why.txt"


def test_a_report_that_grows_while_it_is_refused_waits(folder, monkeypatch):
    file = leave(folder, FOREIGN)
    read = inbox.import_file

    def while_it_is_read(stream, *arguments, **options):
        with file.open("ab") as writer:
            writer.write(json_lines(PANEL))
        return read(io.BytesIO(json_lines(FOREIGN)), *arguments, **options)

    monkeypatch.setattr(inbox, "import_file", while_it_is_read)
    assert "It changed while it was read; the next run imports it." in output_of_refusal(folder)
    assert file.exists()
    assert not any((folder / HOST / "failed").iterdir())


def test_a_file_that_took_the_name_of_one_that_is_imported_is_left_for_the_next_run(folder, monkeypatch):
    file = leave(folder, PANEL)
    taken = inbox.import_file

    def replaced_after_it(*arguments, **options):
        results = taken(*arguments, **options)
        file.unlink()
        leave(folder, OTHER)
        return results

    monkeypatch.setattr(inbox, "import_file", replaced_after_it)
    import_all(folder)
    monkeypatch.undo()
    assert json.loads(file.read_text()) == OTHER
    import_all(folder)
    assert Finding.objects.count() == 2


def test_a_file_of_the_future_is_named_and_left(folder):
    file = leave(folder, PANEL, age=-DAY)
    assert "It was last changed in the future (" in output_of_refusal(folder)
    assert file.exists()
    assert not Finding.objects.exists()


def test_a_folder_that_cannot_be_read_does_not_keep_the_others_out(folder, monkeypatch):
    make_website("example.com")
    leave(folder, PANEL)
    leave(folder, make_row(matched_at="https://example.com/"), host="example.com")
    enter = Folder.folder

    def refuse_one(inbox, name):
        if name == "example.com":
            raise PermissionError(13, "Permission denied")
        return enter(inbox, name)

    monkeypatch.setattr(Folder, "folder", refuse_one)
    assert "example.com: It cannot be read: Permission denied." in output_of_refusal(folder)
    assert Finding.objects.get().website.host == HOST


def test_times_that_no_calendar_has_do_no_harm(folder):
    os.utime(leave(folder, PANEL), ns=(0, -(10**18)))
    import_all(folder)
    assert ImportRun.objects.get().scanned_at.year == 1970


@pytest.mark.parametrize("name", ["a\nb.json", "a\x1b[31m.json", os.fsdecode(b"a\xff.json")])
def test_a_name_that_cannot_be_printed_is_left_and_shown_in_plain_letters(folder, name):
    file = leave(folder, PANEL, name=name)
    leave(folder, OTHER, name="fine.jsonl")
    output = output_of_refusal(folder)
    assert file.exists()
    assert output.isascii()
    assert "\x1b" not in output
    assert [line for line in output.splitlines() if "rename it" in line]
    assert Finding.objects.count() == 1


def test_a_report_that_cannot_be_moved_is_imported_once_and_said_each_time(folder, monkeypatch):
    leave(folder, PANEL)

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "rename", refuse)
    for words in ("New: 1", ""):
        output = output_of_refusal(folder)
        assert "It was imported, but it cannot be moved to done: Permission denied." in output
        assert words in output
    assert names(folder) == [f"{HOST}/a.jsonl"]
    assert ImportRun.objects.count() == 1


def test_an_empty_file_is_a_clean_scan_only_by_its_own_sidecar(folder):
    leave(folder, PANEL, age=300)
    import_all(folder)
    write(folder / HOST / "import.toml", b'format = "nuclei"\ncomplete = true')
    for content in (b"", b"\n", b"\xff\xfe", gzip.compress(b"")):
        write(leave(folder), content)
        refused(folder)
    (why, *_) = (folder / HOST / "failed").glob("*.why.txt")
    assert 'report.json.toml, with two lines: format = "nuclei" and complete = true' in why.read_text()
    (folder / HOST / "import.toml").unlink()
    leave(folder, name="zap.json", options="complete = true", age=100)
    assert "The report is empty, which proves nothing without confirmation" in output_of_refusal(folder)
    assert Finding.objects.get().status == "open"
    leave(folder, options='format = "nuclei"\ncomplete = true', age=100)
    assert "fixed: 1" in import_all(folder)


def test_compressed_reports_are_taken_as_they_are(folder):
    write(folder / HOST / "a.jsonl.gz", gzip.compress(json_lines(PANEL)))
    import_all(folder)
    assert Finding.objects.count() == 1
    assert names(folder) == [f"{HOST}/done/a.jsonl.gz"]


def test_a_report_that_was_just_written_waits_and_is_taken_later(folder):
    file = leave(folder, PANEL, age=30)
    assert import_all(folder) == "Waiting for a later run, because they changed within the last minute: 1.\n"
    os.utime(file, (time.time() - 61,) * 2)
    assert "New: 1" in import_all(folder)
