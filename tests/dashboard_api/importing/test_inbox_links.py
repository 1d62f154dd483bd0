"""Links in the inbox lead nowhere: each trap is sprung by the obvious code first, and then not by ours."""

import os
import shutil
import time
from pathlib import Path

import pytest

from dashboard_api.importing import inbox_files
from dashboard_api.importing.inbox_files import Folder, UnsafeFile
from dashboard_api.models import Finding, ImportRun
from tests.dashboard_api.importing.inbox_folder import HOST, import_all, leave, output_of_refusal
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_website

pytestmark = pytest.mark.django_db
OTHER_HOST = "other.example.org"
FOREIGN = make_row(matched_at="https://example.com/")


@pytest.fixture(autouse=True)
def websites():
    make_website()
    make_website(OTHER_HOST)


@pytest.fixture
def folder(tmp_path):
    inbox = tmp_path / "inbox"
    (inbox / HOST).mkdir(parents=True)
    return inbox


@pytest.fixture
def elsewhere(tmp_path):
    """A folder that is no part of the inbox."""
    folder_elsewhere = tmp_path / "elsewhere"
    folder_elsewhere.mkdir()
    return folder_elsewhere


@pytest.fixture
def others_report(elsewhere):
    """A report of another account, about our website."""
    report = elsewhere / "report.jsonl"
    report.write_bytes(json_lines(make_row()))
    os.utime(report, (time.time() - 120,) * 2)
    return report


def test_a_link_for_a_report_is_not_read(folder, others_report):
    link = folder / HOST / "a.jsonl"
    link.symlink_to(others_report)
    assert link.read_bytes() == others_report.read_bytes()  # without the safeguard
    assert "a.jsonl: It is a link: put the file itself here." in output_of_refusal(folder)
    assert link.is_symlink()
    assert not ImportRun.objects.exists()


def test_a_link_that_takes_a_reports_place_after_it_was_listed_is_not_read(folder, others_report):
    (folder / HOST / "a.jsonl").symlink_to(others_report)
    with Folder.at(folder / HOST) as opened, pytest.raises(UnsafeFile, match="It is a link"):
        opened.open("a.jsonl")


def test_a_link_for_a_hosts_folder_is_not_entered(folder, elsewhere, others_report):
    (folder / HOST).rmdir()
    (folder / HOST).symlink_to(elsewhere)
    assert [file.name for file in folder.glob("*/*")] == ["report.jsonl"]  # without the safeguard
    assert f"{HOST}: It is a link: put the folder itself here." in output_of_refusal(folder)
    assert list(elsewhere.iterdir()) == [others_report]
    assert not ImportRun.objects.exists()


@pytest.mark.parametrize(("name", "row"), [("done", make_row()), ("failed", FOREIGN)])
def test_a_link_for_done_or_failed_moves_nothing_elsewhere(folder, elsewhere, name, row):
    (folder / HOST / name).symlink_to(elsewhere)
    report = leave(folder, row, name="sitecustomize.py")
    copy = Path(shutil.copy2(report, folder / "copy"))
    copy.rename(folder / HOST / name / "copy.py")  # without the safeguard
    assert (elsewhere / "copy.py").exists()
    (elsewhere / "copy.py").unlink()
    assert f"{name} is a link or a file, and must be a folder." in output_of_refusal(folder)
    assert not any(elsewhere.iterdir())
    assert report.exists()
    assert not ImportRun.objects.exists()  # it is imported when it can be moved, and only once


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.why.txt"])
def test_a_link_for_a_moved_report_or_its_reason_overwrites_nothing(folder, elsewhere, name):
    target = elsewhere / "kept"
    failed = folder / HOST / "failed"
    failed.mkdir()
    (failed / name).symlink_to(target)
    (failed / name).write_text("overwritten")  # without the safeguard
    assert target.read_text() == "overwritten"
    target.write_text("kept")
    leave(folder, FOREIGN)
    output_of_refusal(folder)
    assert target.read_text() == "kept"
    assert "Row 1 is of" in (failed / "a-2.jsonl.why.txt").read_text()
    assert (failed / "a-2.jsonl").is_file()


@pytest.mark.parametrize("make_link", [os.symlink, os.link], ids=["symbolic", "hard"])
def test_a_link_for_the_lock_truncates_nothing(folder, elsewhere, make_link):
    target = elsewhere / "kept"
    target.write_text("kept")
    make_link(target, folder / ".lock")
    (folder / ".lock").open("w").close()  # without the safeguard
    assert target.read_text() == ""
    target.write_text("kept")
    leave(folder, make_row())
    with Folder.at(folder) as opened, pytest.raises(UnsafeFile, match=r"\.lock"):
        opened.lock_file(".lock")
    assert not output_of_refusal(folder)
    assert target.read_text() == "kept"
    assert not ImportRun.objects.exists()


def test_a_hard_link_to_another_accounts_report_is_not_read(folder, others_report):
    link = folder / HOST / "a.jsonl"
    os.link(others_report, link)
    assert link.is_file()
    assert not link.is_symlink()  # without the safeguard it is a file like any other
    assert "It has a second name elsewhere (a hard link)" in output_of_refusal(folder)
    assert link.exists()
    assert not ImportRun.objects.exists()


def test_a_hard_link_whose_first_name_is_gone_is_still_its_owners(folder, others_report, monkeypatch):
    os.link(others_report, folder / HOST / "a.jsonl")
    others_report.unlink()
    status = (folder / HOST / "a.jsonl").stat()
    assert status.st_nlink == 1
    assert "It belongs to user" in inbox_files.objection(status, {status.st_uid + 1})
    assert inbox_files.objection(status, {status.st_uid}) == ""


def test_a_folder_for_what_was_done_is_not_a_strangers(folder, monkeypatch):
    (folder / HOST / "done").mkdir()
    leave(folder, make_row())
    stranger = folder.stat().st_uid + 1
    monkeypatch.setattr(Folder, "_trusted_owners", lambda _: {stranger})
    with Folder.at(folder / HOST) as opened, pytest.raises(UnsafeFile, match="done belongs to another user"):
        opened.own_folder("done")


@pytest.mark.parametrize("link", ["a.jsonl.toml", "import.toml"])
def test_a_link_for_options_is_not_read(folder, elsewhere, link):
    secret = elsewhere / "secret"
    secret.write_text("password = 'sesame'\n")
    os.utime(secret, (time.time() - 120,) * 2)
    report = leave(folder, make_row())
    (folder / HOST / link).symlink_to(secret)
    os.utime(folder / HOST / link, (time.time() - 120,) * 2, follow_symlinks=False)
    output = output_of_refusal(folder)
    assert f"{link} is not read. It is a link" in output
    assert "sesame" not in output
    assert report.exists()


def test_a_pipe_does_not_block_the_import(folder):
    os.mkfifo(folder / HOST / "a.jsonl")
    assert "It is not a plain file." in output_of_refusal(folder)
    with Folder.at(folder / HOST) as opened, pytest.raises(UnsafeFile, match="not a plain file"):
        opened.open("a.jsonl")


def test_the_inbox_itself_may_be_a_link_which_the_operator_named(folder, tmp_path):
    leave(folder, make_row())
    link = tmp_path / "link"
    link.symlink_to(folder)
    import_all(link)
    assert Finding.objects.count() == 1
    assert Path(folder / ".lock").is_file()


def test_no_descriptor_is_left_open(folder):
    leave(folder, make_row())
    leave(folder, FOREIGN, name="b.jsonl", options="complete = true")
    before = len(list(Path("/proc/self/fd").iterdir()))
    output_of_refusal(folder)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
