"""Folders of scans: those of workers that live are kept."""

import os
import tempfile

import pytest

from dashboard_api.crawler import folders


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(place, name, at=0):
    folder = place / name
    (folder / "engine").mkdir(parents=True)
    (folder / "engine/report").write_text("found")
    os.utime(folder, (at, at))
    return folder


def test_the_folder_of_a_scan_lasts_as_long_as_the_scan():
    with folders.scan_folder() as folder:
        os.utime(folder, (0, 0))
        folders.remove_left()
        assert folder.is_dir()
    assert not folder.exists()


def test_only_old_folders_of_scans_are_removed(place):
    gone, other = left(place, f"{folders.PREFIX}a"), left(place, "another")
    new = place / f"{folders.PREFIX}b"
    new.mkdir()
    link = place / f"{folders.PREFIX}c"
    link.symlink_to(other)
    folders.remove_left()
    assert [gone.exists(), new.exists(), (other / "engine/report").exists()] == [False, True, True]
