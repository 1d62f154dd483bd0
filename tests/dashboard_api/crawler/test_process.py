"""An engine ends in its reason, and leaves no process: behind the wall, and in a demo without one."""

import os
import time
from pathlib import Path

import pytest

from dashboard_api.crawler import folders, process
from tests.dashboard_api.crawler.engines import WRITE, engine, running


@pytest.fixture(params=["behind the wall", "without it"], autouse=True)
def is_walled(request):
    """Run each test twice."""
    if request.param == "behind the wall":
        request.getfixturevalue("behind_wall")
    return request.param == "behind the wall"


def run(tmp_path, code, tick=lambda: None, **fields):
    stub = engine(code, **fields)
    arguments = stub.arguments(host="shop.example.com", address="192.0.2.10", report=tmp_path / "report")
    try:
        return process.run(stub, stub.program(), arguments, folder=tmp_path, tick=tick)
    finally:
        assert not running(str(tmp_path))


def test_an_engine_that_ends_has_its_exit_code_its_log_and_its_report(tmp_path):
    ended = run(tmp_path, f"print('scanned', host, address); {WRITE}; sys.exit(3)")
    assert (ended.exit_code, ended.reason) == (3, "")
    assert ended.log == "scanned shop.example.com 192.0.2.10"
    assert (tmp_path / "report").read_text().startswith('{"scan"')


def test_an_engine_sees_nothing_of_the_environment_of_the_worker(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "not for engines")
    ended = run(tmp_path, "print(sorted(os.environ), os.getcwd())")
    assert "SECRET_KEY" not in ended.log
    assert str(tmp_path) in ended.log


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="no groups of processes by session")
def test_the_session_of_an_engine_is_as_nice_as_its_worker(tmp_path, monkeypatch):
    monkeypatch.setattr(process.os, "nice", lambda _: 7)
    ended = run(tmp_path, "print(open('/proc/self/autogroup').read())")
    assert ended.log.split()[1:] == ["nice", "7"]


def test_an_engine_that_hangs_is_ended(tmp_path):
    assert run(tmp_path, "time.sleep(60)", seconds=1).reason == "engine_timeout"


def test_an_engine_that_floods_its_log_is_ended(tmp_path):
    ended = run(tmp_path, "while True: print('x' * 1000)", log_kb=64)
    assert ended.reason == "too_much_output"
    assert len(ended.log) < 8192


def test_an_engine_that_floods_its_log_and_ends_at_once_is_noticed(tmp_path):
    assert run(tmp_path, "print('x' * 200_000)", log_kb=64).reason == "too_much_output"


def test_a_report_cannot_grow_without_end(tmp_path):
    code = "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
    code += "f = open(report, 'wb')\nwhile True: f.write(b'x' * 65536)"
    ended = run(tmp_path, code, report_mb=1)
    assert ended.exit_code == -25
    assert (tmp_path / "report").stat().st_size <= 1024**2


@pytest.mark.parametrize(
    "code",
    [
        "for n in range(5): open(f'{n}', 'wb').write(b'x' * 2**19)",
        "for n in range(10_001): open(f'{n}', 'w').close()",
        "for n in range(1_500): os.mkdir('deep'); os.chdir('deep')",
    ],
    ids=["large", "many", "deep"],
)
def test_a_folder_that_is_too_full_ends_the_engine_and_is_removed(code):
    with folders.scan_folder() as folder:
        assert run(folder, f"{code}\ntime.sleep(60)", report_mb=1).reason == "too_much_output"
    assert not folder.exists()


def test_what_an_engine_puts_in_place_of_its_log_is_not_read(tmp_path):
    secret = tmp_path.parent / f"{tmp_path.name}-secret"
    secret.write_text("SECRET_KEY")
    ended = run(tmp_path, f"print('own'); os.symlink({str(secret)!r}, 'log')")
    assert ended.log == "own"


def test_an_engine_that_needs_too_much_memory_fails(tmp_path):
    ended = run(tmp_path, "bytearray(2 * 1024**3)")
    assert ended.exit_code == 1
    assert "MemoryError" in ended.log


@pytest.mark.slow
def test_an_engine_that_burns_its_time_of_the_processor_is_ended(tmp_path):
    assert run(tmp_path, "while True: pass", cpu_seconds=1).exit_code == -24


@pytest.mark.parametrize("session", ["False", "True"])
def test_children_are_ended_with_the_engine_even_in_a_session_of_their_own(tmp_path, session):
    child = f"subprocess.Popen(['sleep', '60'], start_new_session={session})"
    assert run(tmp_path, f"{child}; {child}").reason == ""
    assert run(tmp_path, f"{child}; time.sleep(60)", seconds=1).reason == "engine_timeout"


ESCAPE = """
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve('/bin/sleep', ['sleep', '61.%d'], {})
        os._exit(0)
"""


@pytest.mark.parametrize(("rest", "reason"), [("", ""), ("time.sleep(60)", "engine_timeout")])
def test_children_are_ended_even_if_they_lose_their_parents(tmp_path, rest, reason):
    assert run(tmp_path, ESCAPE % os.getpid() + rest, seconds=1).reason == reason
    assert not running(f"^sleep 61.{os.getpid()}$")


def test_an_engine_that_forks_without_end_is_ended(tmp_path):
    child = "time.sleep(0.3); os.setsid(); time.sleep(60)"
    code = f"while True:\n    if os.fork() == 0: {child}\n    time.sleep(0.02)"
    assert run(tmp_path, code, seconds=1).reason == "engine_timeout"


def test_a_reason_of_the_tick_ends_the_engine(tmp_path):
    assert run(tmp_path, "time.sleep(60)", tick=lambda: "too_many_requests").reason == "too_many_requests"


def test_what_a_tick_raises_ends_the_engine(tmp_path):
    began = time.monotonic()

    def tick():
        raise InterruptedError

    with pytest.raises(InterruptedError):
        run(tmp_path, "time.sleep(60)", tick)
    assert time.monotonic() - began < 30
