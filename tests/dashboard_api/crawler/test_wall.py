"""The wall around an engine: what it reaches, against the same program without the wall; and its pace."""

import json
import os
import socket
import sqlite3
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.core.management import CommandError, call_command

from dashboard_api.crawler import policy, process, queue, wall
from dashboard_api.crawler.worker import Worker
from tests import factories
from tests.dashboard_api.crawler.engines import WRITE, engine

HOST = "shop.localhost"
# What the engine tries to reach, by name; each line raises if it fails.
TRIES = {
    "the folder of .env": "open(base + '/manage.py').read()",
    "SQLite's file": "sqlite3.connect(f'file:{sqlite}?mode=ro', uri=True).execute('SELECT * FROM t')",
    "PostgreSQL by TCP": "socket.create_connection(('127.0.0.1', postgresql), 5)",
    "PostgreSQL by a Unix socket": "socket.socket(socket.AF_UNIX).connect(unix)",
    "Redis by TCP": "socket.create_connection(('127.0.0.1', redis), 5)",
    "an abstract Unix socket": "socket.socket(socket.AF_UNIX).connect('\\0' + abstract)",
    "the worker's environment": "open(f'/proc/{pid}/environ', 'rb').read()[0]",
    "the worker's process": "os.kill(pid, 0)",
    "a folder of others": "open(other, 'w')",
}
PROBE = """
import json, socket, sqlite3
found = {}
for name, code in json.loads(host).items():
    try:
        exec(code, globals() | json.loads(address))
        found[name] = ""
    except Exception as error:
        found[name] = repr(error)
json.dump(found, open(report, 'w'))
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Servers and files of the web user, which the engine tries to reach."""
    folder = tmp_path_factory.mktemp("places")
    with closing(sqlite3.connect(folder / "records.sqlite3")) as database:
        database.execute("CREATE TABLE t (id)")
    unix, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    name = f"threat-dashboard-{os.getpid()}"
    unix.bind(str(folder / ".s.PGSQL.5432"))
    abstract.bind(f"\0{name}")
    unix.listen()
    abstract.listen()
    postgresql, redis = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
    yield {
        "sqlite": str(folder / "records.sqlite3"),
        "postgresql": postgresql.getsockname()[1],
        "redis": redis.getsockname()[1],
        "unix": unix.getsockname(),
        "abstract": name,
        "pid": os.getpid(),
        "other": str(folder / "written"),
    }
    for each in (unix, abstract, postgresql, redis):
        each.close()


@pytest.fixture(scope="module")
def reached(places, tmp_path_factory):
    """Return a function that runs the tries once, with or without the wall; its errors by name."""
    known = {}

    def found(settings):
        if settings.CRAWLER_WALL not in known:
            folder = tmp_path_factory.mktemp("engine")
            values = json.dumps(places | {"base": str(settings.BASE_DIR)})
            probe = engine(PROBE)
            words = probe.arguments(host=json.dumps(TRIES), address=values, report=folder / "report")
            process.run(probe, probe.program(), words, folder=folder, tick=lambda: None)
            known[settings.CRAWLER_WALL] = json.loads((folder / "report").read_text())
        return known[settings.CRAWLER_WALL]

    return found


@pytest.mark.parametrize("name", TRIES)
def test_an_engine_without_the_wall_reaches_what_its_user_reaches(name, reached, settings):
    assert reached(settings)[name] == ""


@pytest.mark.parametrize("name", TRIES)
def test_an_engine_behind_the_wall_does_not_reach(name, reached, settings, behind_wall):
    assert reached(settings)[name] != ""


def test_what_an_engine_writes_behind_the_wall_is_in_its_folder(tmp_path, behind_wall):
    code = f"open('/tmp/a', 'w'); open(os.environ['HOME'] + '/b', 'w'); {WRITE}"
    probe = engine(code)
    words = probe.arguments(host="h", address="a", report=tmp_path / "report")
    assert process.run(probe, probe.program(), words, folder=tmp_path, tick=lambda: None).exit_code == 0
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"a", "b", "report"}


@pytest.fixture
def website(settings):
    """A website on loopback; ``accepted`` has the time of each connection."""

    class Website(ThreadingHTTPServer):
        def get_request(self):
            self.accepted.append(time.monotonic())
            return super().get_request()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/" else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>Shop</title><a href=/basket>Basket</a>")

        def log_message(self, *_):
            pass

    with Website(("127.0.0.1", 0), Handler) as server:
        server.accepted = []
        Thread(target=server.serve_forever, daemon=True).start()
        settings.ALLOW_PRIVATE_HOSTS = True
        settings.LOCALHOST_WEBSITES = {HOST: server.server_address[1]}
        yield server
        server.shutdown()


ESSENTIALS = engine(name="essentials", command=["$essentials", "$host", "$address", "$report"])
AT_ONCE = """
import http.client, json
from concurrent.futures import ThreadPoolExecutor
where = sys.argv[4].removeprefix("http://").strip("/")
def ask(number):
    connection = http.client.HTTPConnection(where, timeout=20)
    if TUNNEL:
        connection.set_tunnel(host, int(sys.argv[5]))
    connection.request("GET", "/" if TUNNEL else f"http://{host}:{sys.argv[5]}/")
    return connection.getresponse().status
with ThreadPoolExecutor(8) as threads:
    assert list(threads.map(ask, range(8))) == [200] * 8
"""


def asking(place, port):
    """Return an engine that sends eight requests at once through the proxy or the tunnel."""
    stub = engine(f"TUNNEL = {place == '$tunnel'}\n{AT_ONCE}{WRITE}", name=place.strip("$"))
    return type(stub)(name=stub.name, command=[*stub.command, place, str(port)], seconds=20)


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.django_db
def test_all_engines_and_looks_together_open_five_connections_a_second(website, monkeypatch, behind_wall):
    monkeypatch.setattr(policy, "CONNECTIONS_A_SECOND", 5.0)
    port = website.server_address[1]
    engines = [ESSENTIALS, asking("$proxy", port), asking("$tunnel", port)]
    queue.add(factories.make_scannable(HOST), by="ada", profile="standard")
    job = Worker("worker", engines, lambda: False).run_one()
    assert [run.exit_code for run in job.runs.all()] == [0] * 3, [run.log for run in job.runs.all()]
    assert len(website.accepted) > 20
    for first in website.accepted:
        assert sum(first <= at < first + 1 for at in website.accepted) <= 5


@pytest.mark.django_db
def test_a_worker_that_must_have_the_wall_does_not_begin_without_it(settings, monkeypatch):
    settings.CRAWLER_ENABLED = settings.CRAWLER_WALL = True
    monkeypatch.setattr(wall, "problem_here", lambda: "it is not installed")
    with pytest.raises(CommandError, match="bubblewrap only, and it does not work here: it is not installed"):
        call_command("crawl", "--once")
