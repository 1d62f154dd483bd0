"""Exposed files: found by a proof of their content, and without a byte of them stored."""

import re
import time
from datetime import UTC, datetime, timedelta

import pytest

from dashboard_api.crawler import policy
from dashboard_api.crawler.engines import read_engines
from dashboard_api.crawler.essentials import exposed
from dashboard_api.crawler.essentials.exposed import LEAKS
from dashboard_api.crawler.essentials.program import _parser
from dashboard_api.crawler.essentials.rules import RULES
from dashboard_api.models import Finding, ScanOptOut
from tests.dashboard_api.crawler.essentials.good_website import HOST
from tests.dashboard_api.crawler.essentials.test_scan import answer, http, import_report, redirect, routes
from tests.factories import make_website
from tests.faults.server import send
from tests.foundation.outbound.internet import OTHER, PUBLIC

pytestmark = pytest.mark.once

ENV = b"APP_NAME=Shop\nDB_PASSWORD='hunter2-secret'\n"
HOME = http(200)


def scanned(**options):
    *lines, last = exposed.report(HOST, PUBLIC, **options)
    return {line["location"]: line["finding"] for line in lines if "finding" in line}, lines, last


def test_a_file_is_found_and_nothing_of_it_is_stored(serve):
    serve(routes({"/": HOME, "/.env": http(200, ENV)}))
    found, lines, last = scanned()
    assert found == {f"https://{HOST}/.env": "credentials-exposed"}
    assert "hunter2" not in str(lines)
    assert "DB_PASSWORD" not in str(lines)
    assert last["complete"] is True


CONTENTS = {
    "/.git/HEAD": b"ref: refs/heads/main\n",
    "/.svn/wc.db": b"SQLite format 3\0...",
    "/.hg/requires": b"dotencode\nfncache\n",
    "/.env": ENV,
    "/wp-config.php.bak": b"<?php define( 'DB_PASSWORD', 'hunter2' );",
    "/config.php.bak": b"<?php\n$db['password'] = 'hunter2';",
    "/config/database.yml": b"production:\n  password: hunter2\n",
    "/appsettings.json": b'{"ConnectionStrings": {"Shop": "Server=a;Password=hunter2;"}}',
    "/.htpasswd": b"ada:$apr1$abcdefgh$0123456789abcdefghijkl\n",
    "/.npmrc": b"//registry.npmjs.org/:_authToken=npm_hunter2\n",
    "/.aws/credentials": b"[default]\naws_secret_access_key = hunter2\n",
    "/.git-credentials": b"https://ada:hunter2@git.example.com\n",
    "/id_rsa": b"-----BEGIN RSA PRIVATE KEY-----\nhunter2\n",
    "/dump.sql": b"\n-- MariaDB dump 10.19\n",
    "/backup.zip": b"PK\x03\x04...",
    "/db.sqlite3": b"SQLite format 3\0...",
    "/phpinfo.php": b"<!DOCTYPE html>\n<title>PHP 8.3.6 - phpinfo()</title>",
    "/server-status": b"<!DOCTYPE HTML>\n<html><head>\n<title>Apache Status</title>",
    "/server-info": b"<html><head><title>Server Information</title>",
    "/actuator/env": b'{"activeProfiles":[],"propertySources":[{"name":"a"}]}',
}


def test_every_leak_has_a_proof_that_its_own_content_passes_and_that_others_do_not():
    assert [*CONTENTS] == [leak.paths[0] for leak in LEAKS]
    assert {leak.rule for leak in LEAKS} <= RULES.keys()
    assert 40 <= len({path for leak in LEAKS for path in leak.paths}) <= 50
    for leak, content in zip(LEAKS, CONTENTS.values(), strict=True):
        assert leak.proves(content), leak.paths
        assert not leak.proves(b"")
        assert not leak.proves(b"<!doctype html><title>Shop</title>" + content.replace(b"title", b"b"))
        assert not leak.proves(b"Not found"), leak.paths


HARMLESS = {
    "/.env": b"NODE_ENV=production\nDB_PASSWORD=\nAPI_KEY=''\n# SECRET=a\n",
    "/config/database.yml": b"production:\n  password: <%= ENV['DB_PASSWORD'] %>\n",
    "/docker-compose.yml": b"services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: ${PASSWORD}\n",
    "/.npmrc": b"registry=https://registry.npmjs.org/\n_authToken=${NPM_TOKEN}\n",
    "/appsettings.json": b'{"Logging": {"LogLevel": "Warning"}, "Password": ""}',
    "/server.key": b"-----BEGIN CERTIFICATE-----\n",
    "/.git/HEAD": b"ref: refs/heads/main is where the branch is named",
    "/config.php.bak": b"<?php // the password is elsewhere",
}


@pytest.mark.parametrize("path", HARMLESS)
def test_a_file_without_a_secret_is_no_problem(path):
    [leak] = [leak for leak in LEAKS if path in leak.paths]
    assert not leak.proves(HARMLESS[path])


@pytest.mark.parametrize(
    "unit", [b"\n", b" ", b"A", b"PASSWORD", b"<?php", b"password=", b"-- ", b"a:", b"\t- "]
)
def test_a_hostile_file_keeps_no_proof_busy(unit):
    body = (unit * exposed._BYTES)[: exposed._BYTES]
    begun = time.process_time()
    for leak in LEAKS:
        leak.proves(body)
        leak.proves(b"<?php" + body)
        leak.proves(b"{" + body)
    assert time.process_time() - begun < 5


def test_a_server_that_shows_the_same_at_every_name_leaks_nothing(serve):
    def script(server, connection):
        server.receive(connection)
        path = server.received[-1].head.split(b" ")[1]
        connection.sendall(HOME if path == b"/" else http(200, ENV if b".env" in path else b"PK\x03\x04"))

    server = serve(script)
    found, _, last = scanned()
    # Only names that begin with .env show settings, so the control of /.env.local is .env.local itself.
    assert set(found.values()) <= {"credentials-exposed"}
    assert last["complete"] is True
    asked = [each.head.split(b" ")[1].decode() for each in server.received]
    assert any(re.fullmatch(r"/[0-9a-f]{16}\.zip", path) for path in asked)


def test_a_control_is_asked_for_only_after_a_proof_and_once_for_a_folder_and_an_ending(serve):
    files = {path: http(200, b"PK\x03\x04") for path in ("/backup.zip", "/www.zip", "/site.zip")}
    server = serve(routes({"/": HOME} | files))
    found, _, _ = scanned()
    assert len(found) == 3
    paths = [each.head.split(b" ")[1].decode() for each in server.received]
    assert len([path for path in paths if re.search("/[0-9a-f]{16}", path)]) == 1
    assert len(paths) == sum(len(leak.paths) for leak in LEAKS) + 2


def test_files_are_looked_for_at_the_name_of_the_home_page(serve, internet):
    internet.zone[f"www.{HOST}."] = [OTHER]
    serve(redirect(f"https://www.{HOST}/"))
    serve(routes({"/": HOME, "/.env": http(200, ENV)}), at=OTHER)
    found, lines, _ = scanned()
    assert found == {f"https://www.{HOST}/.env": "credentials-exposed"}
    assert {line["checked"] for line in lines if "checked" in line} == {
        f"https://{HOST}/",
        f"https://www.{HOST}/",
    }


@pytest.mark.parametrize("encrypted", [None, b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["closed", "http"])
def test_files_of_a_website_without_https_are_looked_for_by_http(serve, encrypted):
    serve(encrypted and send(encrypted), tls=None)
    serve(routes({"/": HOME, "/.env": http(200, ENV)}), port=80)
    found, _, last = scanned()
    assert found == {f"http://{HOST}/.env": "credentials-exposed"}
    assert last["complete"] is True


@pytest.mark.parametrize(
    "response",
    [
        http(302, headers=[("Location", "/login")]),
        http(302, headers=[("Location", "https://other.example.net/.env")]),
        http(403),
        http(401),
        http(206, ENV),
    ],
)
def test_what_is_not_shown_does_not_leak(serve, response):
    serve(routes({"/": HOME, "/.env": response, "/login": http(200, ENV)}))
    found, lines, last = scanned()
    assert (found, last["complete"]) == ({}, True)
    assert not [line for line in lines if "error" in line]


@pytest.mark.django_db
def test_a_file_that_does_not_answer_stays_open_and_one_that_is_gone_is_fixed(serve):
    site = make_website(HOST)
    later = {"/": HOME, "/.git/HEAD": http(500)}
    for days, table in (
        (2, {"/": HOME, "/.env": http(200, ENV), "/.git/HEAD": http(200, CONTENTS["/.git/HEAD"])}),
        (1, later),
    ):
        serve(routes(table))
        lines = map(exposed.msgspec.json.encode, exposed.report(HOST, PUBLIC))
        import_report(site, [line.decode() for line in lines], datetime.now(UTC) - timedelta(days=days))
    assert dict(Finding.objects.values_list("rule", "status")) == {
        "credentials-exposed": "fixed",
        "repository-exposed": "open",
    }


@pytest.mark.parametrize(("status", "reason"), [(429, "blocked"), (503, "blocked"), (500, "server_error")])
def test_a_website_that_begins_to_refuse_is_left_alone(serve, status, reason):
    def script(server, connection):
        server.receive(connection)
        connection.sendall(http(status) if len(server.received) > 2 else HOME)

    server = serve(script)
    found, lines, _ = scanned()
    assert found == {}
    assert {line["error"] for line in lines if "error" in line} == {reason}
    assert len(server.received) == 5  # the home page, one file, and three refusals
    unread = {rule for line in lines for rule in line.get("rules", [])}
    assert unread == {leak.rule for leak in LEAKS}


@pytest.mark.django_db
def test_a_website_that_opted_out_is_not_asked(serve, internet):
    internet.zone[f"www.{HOST}."] = [OTHER]
    ScanOptOut.objects.create(kind="host", value=f"www.{HOST}", reason="They asked", by="ada")
    serve(redirect(f"https://www.{HOST}/"))
    serve(answer(200), at=OTHER)
    _, lines, last = scanned(never=policy.never_scanned(HOST))
    assert (lines[-1]["error"], last["complete"]) == ("opted_out", False)
    assert {address for address, _ in internet.connected} == {PUBLIC}


def test_the_engine_is_part_of_standard_scans(settings):
    settings.ALLOW_PRIVATE_HOSTS, settings.DNS_RESOLVERS = False, []
    engines = read_engines(settings.BASE_DIR / "deploy/engines.toml")
    [engine] = [each for each in engines if each.name == "exposed-files"]
    assert [engine.is_part_of(each, HOST) for each in ("quick", "standard")] == [False, True]
    assert engine.seconds > exposed.SECONDS
    _, *arguments = engine.arguments(host=HOST, address=PUBLIC, report=settings.BASE_DIR / "report")
    assert vars(_parser().parse_args(arguments))["kind"] == "files"
