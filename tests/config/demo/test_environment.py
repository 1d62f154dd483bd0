import socket
import stat

import pytest

from config.demo.environment import MARKER, DemoRefused, prepare_environment
from dashboard_api.crawler import wall


def prepare(folder, *arguments, environ=None):
    prepare_environment(folder, ["--no-serve", *arguments], environ or {})


def settings_of(folder):
    lines = (folder / ".env").read_text().splitlines()
    return dict(line.split("=", maxsplit=1) for line in lines if "=" in line)


def test_first_run_writes_settings_that_only_the_user_can_read(tmp_path):
    prepare(tmp_path)
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    written = settings_of(tmp_path)
    assert len(written["SECRET_KEY"]) >= 50
    assert len(written["DEMO_PASSWORD"]) >= 16
    assert written["DATABASE_URL"] == "sqlite:///var/demo/records.sqlite3"
    assert written["PORTAL_BASE_URL"] == "http://127.0.0.1:8000"
    assert written["STAFF_SECOND_FACTOR"] == "false"
    assert "DASHBOARD_BASE_URL" not in written


def test_keys_and_password_are_different_everywhere(tmp_path):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        prepare(tmp_path / name)
    here, there = settings_of(tmp_path / "here"), settings_of(tmp_path / "there")
    for name in ("SECRET_KEY", "MASTER_KEYS", "DEMO_PASSWORD"):
        assert here[name] != there[name]


def test_second_run_keeps_everything(tmp_path):
    prepare(tmp_path)
    before = (tmp_path / ".env").read_text()
    prepare(tmp_path, "--verbosity", "0")
    assert (tmp_path / ".env").read_text() == before


@pytest.mark.parametrize("arguments", [["--port", "8123"], ["--port=8123", "--reset"]])
def test_another_port_changes_the_address_alone(tmp_path, arguments):
    prepare(tmp_path)
    before = settings_of(tmp_path)
    prepare(tmp_path, *arguments)
    addresses = {
        "PORTAL_BASE_URL": "http://127.0.0.1:8123",
        "LOCALHOST_WEBSITES": "demo-shop.localhost:8124",
    }
    assert settings_of(tmp_path) == before | addresses


def test_an_env_file_of_an_earlier_demo_gets_scans(tmp_path):
    prepare(tmp_path)
    file = tmp_path / ".env"
    lines = [line for line in file.read_text().splitlines() if not line.startswith(("CRAWLER", "LOCALHOST"))]
    file.write_text("\n".join(lines) + "\n")
    prepare(tmp_path)
    assert settings_of(tmp_path)["CRAWLER_ENABLED"] == "true"
    assert settings_of(tmp_path)["LOCALHOST_WEBSITES"] == "demo-shop.localhost:8001"


@pytest.mark.parametrize(("problem", "value"), [("", "true"), ("it is not installed", "false")])
def test_scanners_of_the_demo_run_behind_a_wall_where_it_works(tmp_path, monkeypatch, problem, value):
    monkeypatch.setattr(wall, "problem_here", lambda: problem)
    prepare(tmp_path)
    assert settings_of(tmp_path)["CRAWLER_WALL"] == value


def test_a_demo_that_asked_itself_over_http_asks_directly_from_now_on(tmp_path):
    prepare(tmp_path)
    with (tmp_path / ".env").open("a") as file:
        file.write("DASHBOARD_BASE_URL=http://127.0.0.1:8000\n")
    prepare(tmp_path)
    assert "DASHBOARD_BASE_URL" not in settings_of(tmp_path)


def test_lines_added_by_hand_stay(tmp_path):
    prepare(tmp_path)
    with (tmp_path / ".env").open("a") as file:
        file.write("# my own\nDASHBOARD_TIMEOUT_SECONDS=5\n")
    prepare(tmp_path, "--port", "8123")
    text = (tmp_path / ".env").read_text()
    assert "# my own\nDASHBOARD_TIMEOUT_SECONDS=5\n" in text


@pytest.mark.parametrize("text", ["SECRET_KEY=mine\n", "", MARKER + "\nSECRET_KEY=mine\n"])
def test_a_foreign_env_file_is_refused_and_kept(tmp_path, text):
    (tmp_path / ".env").write_text(text)
    with pytest.raises(DemoRefused, match="Move that file away"):
        prepare(tmp_path, "--port", "8123")
    assert (tmp_path / ".env").read_text() == text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgres://shop@db.example.com/shop"),
        ("DATABASE_URL", "sqlite:///var/records.sqlite3"),
        ("REDIS_URL", "redis://cache.example.com"),
        ("MASTER_KEYS", "1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="),
        ("ENABLE_PORTAL", "false"),
    ],
)
def test_other_settings_in_the_environment_are_refused_before_anything_is_written(tmp_path, name, value):
    with pytest.raises(DemoRefused, match=f"unset {name}") as refusal:
        prepare(tmp_path, environ={name: value})
    assert value not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


def test_the_demos_own_settings_in_the_environment_are_accepted(tmp_path):
    prepare(tmp_path)
    prepare(tmp_path, environ=settings_of(tmp_path))


def test_an_env_file_that_names_another_database_by_now_is_refused(tmp_path):
    prepare(tmp_path)
    changed = (tmp_path / ".env").read_text().replace("var/demo/records", "var/records")
    (tmp_path / ".env").write_text(changed)
    with pytest.raises(DemoRefused, match=r"DATABASE_URL in \.env was changed"):
        prepare(tmp_path, "--port", "8123")
    assert (tmp_path / ".env").read_text() == changed


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http", "٨٠٠٠", ""])
def test_a_port_that_is_none_is_refused_before_anything_is_written(tmp_path, capsys, port):
    with pytest.raises(SystemExit):
        prepare(tmp_path, "--port", port)
    assert "a number from 1 to 65535" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_help_writes_nothing(tmp_path, capsys):
    with pytest.raises(SystemExit):
        prepare(tmp_path, "--help")
    assert "--reset" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(DemoRefused, match=r"Cannot write .*\.env: No such file or directory"):
        prepare(tmp_path / "gone")


def listening_above_a_free_port(distance):
    """Return a listening socket; the port ``distance`` below it is free."""
    while True:
        busy = socket.create_server(("127.0.0.1", 0))
        try:
            if distance:
                socket.create_server(("127.0.0.1", busy.getsockname()[1] - distance)).close()
        except OSError:
            busy.close()
        else:
            return busy


@pytest.mark.parametrize("distance", [0, 1])
def test_a_port_in_use_is_refused_before_anything_is_written(tmp_path, distance):
    with listening_above_a_free_port(distance) as busy:
        port = busy.getsockname()[1]
        with pytest.raises(DemoRefused, match=rf"Port {port} cannot be used \(Address already in use\)"):
            prepare_environment(tmp_path, ["--port", str(port - distance)], {})
    assert list(tmp_path.iterdir()) == []
