import pytest

from benchmarks import databases


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(databases, "FOLDER", tmp_path)
    return tmp_path


def test_discard_removes_a_database_with_all_its_files_and_no_other(folder):
    for name in ["a_1.sqlite3", "a_1.sqlite3-wal", "a_1.short-lived.sqlite3", "a_10.sqlite3"]:
        (folder / name).touch()
    databases.discard("sqlite", "a_1")
    assert [file.name for file in folder.iterdir()] == ["a_10.sqlite3"]


def test_copy_makes_a_second_database_and_keeps_the_first(folder):
    (folder / "a_1.sqlite3").write_text("records")
    (folder / "a_1.short-lived.sqlite3").write_text("nonces")
    databases.copy("sqlite", "a_1", to="b_1")
    assert (folder / "b_1.sqlite3").read_text() == (folder / "a_1.sqlite3").read_text() == "records"
    assert (folder / "b_1.short-lived.sqlite3").read_text() == "nonces"


def test_names_contain_purpose_and_scale():
    assert databases.database_name("reads", 1) == "threat_dashboard_reads_1"
    assert databases.database_name("writes", 0.1) == "threat_dashboard_writes_0_1"


def test_the_password_of_a_database_url_is_never_shown():
    assert databases.without_password("postgres://me:s3cret@db/name") == "postgres://me@db/name"
    assert (
        databases.without_password("postgres://postgres@127.0.0.1:5432")
        == "postgres://postgres@127.0.0.1:5432"
    )
