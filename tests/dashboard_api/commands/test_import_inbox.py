import errno
import fcntl
import io
import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from dashboard_api.importing import inbox
from dashboard_api.models import Finding, ImportRun
from tests.commands import run, run_json
from tests.dashboard_api.importing.inbox_folder import leave, names, refused
from tests.dashboard_api.scanners.samples import json_lines, make_result, make_row, make_tools
from tests.factories import make_website

pytestmark = pytest.mark.django_db
FOREIGN = make_row(matched_at="https://example.com/")


@pytest.fixture
def website():
    return make_website()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "shop.example.com").mkdir()
    return tmp_path


def test_reports_are_imported_once_and_moved_away(website, folder):
    leave(folder, make_row())
    leave(folder, make_row(template_id="other"), name="b.jsonl")
    output = run("import_inbox", str(folder), "--by", "cron")
    assert "shop.example.com/a.jsonl: Rows: 1. Findings: 1" in output
    assert names(folder) == ["shop.example.com/done/a.jsonl", "shop.example.com/done/b.jsonl"]
    assert Finding.objects.count() == 2
    assert set(ImportRun.objects.values_list("by", "file_name")) == {("cron", "a.jsonl"), ("cron", "b.jsonl")}
    assert run("import_inbox", str(folder)) == "There are no reports to import.\n"


def test_a_report_that_was_imported_before_the_crash_is_only_moved(website, folder, monkeypatch):
    leave(folder, make_row())
    monkeypatch.setattr(inbox, "_move", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        run("import_inbox", str(folder))
    monkeypatch.undo()
    assert "It was imported before." in run("import_inbox", str(folder))
    assert ImportRun.objects.count() == 1
    assert names(folder) == ["shop.example.com/done/a.jsonl"]


def test_the_same_report_of_another_website_is_another_import(website, folder):
    make_website("example.com")
    for host in ("shop.example.com", "example.com"):
        leave(folder, make_row(), host=host)
    run("import_inbox", str(folder))
    assert ImportRun.objects.count() == 2


def test_a_refused_report_is_set_aside_with_its_reason_and_the_others_go_on(website, folder):
    leave(folder, FOREIGN, name="a.jsonl")
    leave(folder, make_row(), name="b.jsonl")
    assert refused(folder) == "Not every report was imported."
    failed = folder / "shop.example.com" / "failed"
    assert "Row 1 is of example.com" in (failed / "a.jsonl.why.txt").read_text()
    assert (failed / "a.jsonl").exists()
    assert Finding.objects.count() == 1


def test_a_report_whose_import_fails_waits_and_the_others_go_on(website, folder, monkeypatch, caplog):
    leave(folder, make_row(), name="a.jsonl")
    leave(folder, make_row(), name="b.jsonl")
    whole = inbox.import_file

    def import_file(file, website, options):
        if options.file_name == "a.jsonl":
            raise ValueError("unforeseen")
        return whole(file, website, options)

    monkeypatch.setattr(inbox, "import_file", import_file)
    assert refused(folder) == "Not every report was imported."
    assert names(folder) == ["shop.example.com/a.jsonl", "shop.example.com/done/b.jsonl"]
    assert "unforeseen" in caplog.text


def test_every_line_about_a_refused_report_names_it(website, folder):
    leave(folder, FOREIGN)
    output = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_inbox", str(folder), stdout=output)
    assert "Row 1 is of" in output.getvalue()
    assert all(line.startswith("shop.example.com/a.jsonl: ") for line in output.getvalue().splitlines())


@pytest.mark.parametrize("base_url", ["https://{host}/", "https://www.{host}/app/"])
def test_places_without_a_host_belong_where_the_operator_says_of_each_website(website, folder, base_url):
    make_website("example.com")
    for host in ("shop.example.com", "example.com"):
        leave(folder, make_row(matched_at="/login"), host=host)
    run("import_inbox", str(folder), "--base-url", base_url)
    locations = Finding.objects.values_list("website__host", "location")
    roots = {host: base_url.replace("{host}", host) for host in ("shop.example.com", "example.com")}
    assert all(location.startswith(roots[host].removesuffix("app/")) for host, location in locations)
    assert len(locations) == 2


def test_json_lists_each_file(website, folder, capsys):
    leave(folder, make_row(), name="b.jsonl")
    leave(folder, FOREIGN, name="a.jsonl")
    with pytest.raises(CommandError):
        run_json("import_inbox", str(folder))
    done = folder / "shop.example.com" / "done" / "b.jsonl"
    done.rename(folder / "shop.example.com" / "c.jsonl")
    (duplicate,) = run_json("import_inbox", str(folder))["files"]
    assert (duplicate["file"], duplicate["duplicate"], duplicate["error"]) == (
        "shop.example.com/c.jsonl",
        True,
        None,
    )


def test_a_file_with_reports_of_several_tools_is_listed_by_tool_and_recognised_again(website, folder):
    tools = make_tools(("One", [make_result()]), ("Two", [make_result()]))
    leave(folder, tools)
    output = run_json("import_inbox", str(folder))["files"]
    assert [(each["file"], each["result"]["source"]) for each in output] == [
        ("shop.example.com/a.jsonl", "one"),
        ("shop.example.com/a.jsonl", "two"),
    ]
    (folder / "shop.example.com/done/a.jsonl").rename(folder / "shop.example.com/a.jsonl")
    assert run("import_inbox", str(folder)) == "shop.example.com/a.jsonl: It was imported before.\n"


def test_a_file_that_was_just_written_waits_and_is_counted(website, folder):
    file = leave(folder, make_row(), age=5)
    assert run("import_inbox", str(folder)) == (
        "Waiting for a later run, because they changed within the last minute: 1.\n"
    )
    assert run_json("import_inbox", str(folder)) == {"files": [], "waiting": 1}
    assert file.exists()


@pytest.mark.parametrize(
    ("name", "age"),
    [(".a.jsonl", 120), ("a.jsonl.part", 120), ("a.tmp", 120)],
    ids=["hidden", "part", "temporary"],
)
def test_a_file_that_may_still_be_written_waits(website, folder, name, age):
    file = leave(folder, make_row(), name=name, age=age)
    assert run("import_inbox", str(folder)) == "There are no reports to import.\n"
    assert file.exists()


def test_a_file_that_grows_while_it_is_read_is_left_and_nothing_is_stored(website, folder, monkeypatch):
    file = leave(folder, make_row())
    read = inbox.import_file

    def while_it_is_read(stream, *arguments, **options):
        with file.open("ab") as writer:
            writer.write(json_lines(make_row(template_id="late")))
        return read(stream, *arguments, **options)

    monkeypatch.setattr(inbox, "import_file", while_it_is_read)
    refused(folder)
    assert file.exists()
    assert not Finding.objects.exists()
    assert not ImportRun.objects.exists()


def test_a_folder_of_no_website_is_left_until_there_is_one(folder):
    file = leave(folder, make_row())
    refused(folder)
    assert file.exists()
    make_website()
    run("import_inbox", str(folder))
    assert Finding.objects.count() == 1


def test_a_second_run_at_the_same_time_is_refused(website, folder):
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "Another import_inbox is running in" in refused(folder)


def test_names_that_are_taken_lose_nothing(website, folder):
    for rule in ("one", "two"):
        leave(folder, make_row(template_id=rule))
        run("import_inbox", str(folder))
    done = sorted(path.name for path in (folder / "shop.example.com" / "done").iterdir())
    assert done == ["a-2.jsonl", "a.jsonl"]
    output = [
        json.loads(path.read_text())["template-id"] for path in (folder / "shop.example.com/done").iterdir()
    ]
    assert sorted(output) == ["one", "two"]


def test_a_complete_scan_fixes_what_it_does_not_report(website, folder):
    leave(folder, make_row())
    run("import_inbox", str(folder))
    leave(folder, make_row(template_id="other", timestamp="2026-03-02T08:00:00Z"))
    assert "fixed: 1." in run("import_inbox", str(folder), "--complete")


def test_what_is_no_folder_is_refused(tmp_path):
    assert "is not a folder" in refused(tmp_path / "none")


def test_a_folder_of_another_user_is_refused_with_what_it_needs(folder, monkeypatch):
    def denied(*_args, **_kwargs):
        raise PermissionError(errno.EACCES, "Permission denied", ".lock")

    monkeypatch.setattr("dashboard_api.management.commands.import_inbox.import_all", denied)
    assert refused(folder).startswith(
        f"{folder} cannot be used: Permission denied. The user who runs this must"
    )
