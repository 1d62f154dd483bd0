"""A search for known secrets in everything that a whole run leaves behind.

The demo is served with secrets that this run knows: the password of its users, a signing secret, a report
token, the master key and the other keys of the settings, and the cookies of sessions. People sign in, well
and badly, and visit every page that links lead to; programs call the API well and badly; operators run
commands. Then responses, the log, the output of commands, e-mails, plain dumps of the database and a backup
are searched for each secret, also as hex and as base64. Control: each form is found in a text that has it.
"""

import base64
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests

import es1
from benchmarks import databases
from benchmarks.servers import Server, run_server
from tests.long.signed_calls import signed_call

NAME = "threat_dashboard_leaks"
ACCOUNT, HOST = "acct_0001", "shop.example.com"
PASSWORD, SECRET = "Canary-password-7c1f", "canary_secret_5d0e8b61f2c94a77b3"  # of this run alone
METRICS = "canary_metrics_9e3a7b10c4d85f62a1b0"
PEOPLE = ("owner", "colleague", "admin")
COMMANDS = (
    "doctor", f"show_account {ACCOUNT} --json",
    f"signed_request --host {HOST} --json", "reseal --json", "seal_audit", "verify_audit",
    "prune --json", "prune_portal --json", "end_day --json", "notify --json", "check_claims",
    f"revoke_secret {ACCOUNT} 999", "show_account acct_unknown",
)  # fmt: skip
_TOKEN = f"""
from datetime import timedelta
from django.utils import timezone
from dashboard_api.models import Account, ReportToken, Website
account, website = Account.objects.get(ref="{ACCOUNT}"), Website.objects.get(host="{HOST}")
ends = timezone.now() + timedelta(days=1)
print(ReportToken.objects.issue(account, [website], name="CI", sources=[], expires_at=ends, by="leaks")[1])
"""
_LINK = re.compile(rb'(?:href|action|src)="(/[^"#]*)')
Texts = dict[str, bytes]  # by name


def leaks(backend: str, *, rounds: int) -> Iterator[str]:
    """Yield where a secret was found after a run on a demo, whose people visit ``rounds`` pages each."""
    environment = databases.create_demo(backend, NAME, password=PASSWORD)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "backup").mkdir()
        Path(folder, "mails").mkdir()
        environment |= {"METRICS_TOKEN": METRICS, "LOG_FORMAT": "json"}
        environment |= {"EMAIL_URL": f"filemail://{folder}/mails", "PORTAL_BASE_URL": "http://127.0.0.1:8000"}
        yield from _leaks(environment, Path(folder), pages=rounds)
    databases.discard(backend, NAME)


def _leaks(environment: dict[str, str], folder: Path, *, pages: int) -> Iterator[str]:
    """Yield where a secret was found after the whole run."""
    texts: Texts = {}
    _manage(environment, texts, f"issue_secret {ACCOUNT} --from-stdin", given=SECRET)
    _manage(environment, texts, f"connect_account {ACCOUNT}", given=SECRET)
    shell = [str(databases.ROOT / "manage.py"), "shell", "-v", "0", "-c", _TOKEN]
    token = _run(environment, shell, given="").stdout.strip()
    secrets = {
        "password": PASSWORD, "signing secret": SECRET, "report token": token, "metrics token": METRICS,
        "SECRET_KEY": environment["SECRET_KEY"], "master key": environment["MASTER_KEYS"].partition(":")[2],
    }  # fmt: skip
    with run_server(environment) as server:
        for person in PEOPLE:
            secrets[f"session of {person}"] = _visit(server, person, texts, pages=pages)
        _call(server, token, texts)
        yield from _manage_in_turn(environment, texts, [*COMMANDS, f"backup {folder}/backup"])
        texts["log"] = (databases.FOLDER / f"server-{server.port}.log").read_bytes()
    texts |= {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    texts["dump"] = _dump(environment)
    for name, secret in secrets.items():
        if any(form not in b"<" + form + b">" for form in _forms(secret)) or not _found(
            secret, {"control": b"a" + base64.b64encode(b"xy" + secret.encode() + b"z")}
        ):
            yield f"the control of {name} was not found"
        yield from (f"{name}: in {place}" for place in _found(secret, texts))
    size = sum(map(len, texts.values()))
    print(f"{len(secrets)} secrets, {len(texts)} texts, {size / 2**20:.1f} MB")


def _forms(secret: str) -> list[bytes]:
    """Return the secret as it is, as hex, and as base64 at each of three offsets, without its ends."""
    data = secret.encode()
    coded = [base64.b64encode(b"x" * offset + data)[4:-4] for offset in range(3)]
    return [data, data.hex().encode(), *coded, *(each.translate(_URL_SAFE) for each in coded)]


_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def _found(secret: str, texts: Texts) -> list[str]:
    return [name for name, text in texts.items() if any(form in text for form in _forms(secret))]


def _visit(server: Server, person: str, texts: Texts, *, pages: int) -> str:
    """Sign in, visit the pages that links lead to, and return the value of the session's cookie."""
    address = f"http://127.0.0.1:{server.port}"
    session = requests.Session()
    for name, password in ((PASSWORD, PASSWORD), (person, PASSWORD + "x"), (person, PASSWORD)):
        page = session.get(f"{address}/accounts/login/", timeout=30)
        form = {"login": name, "password": password, "csrfmiddlewaretoken": _csrf(page.text)}
        answer = session.post(f"{address}/accounts/login/", data=form, timeout=30, allow_redirects=False)
        if name != PASSWORD:  # a form that is shown again holds the name that was typed
            texts[f"sign-in of {person}"] = answer.content
    if answer.status_code != 302:
        raise RuntimeError(f"{person} cannot sign in: {answer.status_code}")
    cookies = [cookie.value or "" for cookie in session.cookies if "session" in cookie.name]
    waiting, seen = (
        deque(["/", "/admin/", "/nothing/", "/v1/health", "/metrics", "/readyz?verbose"]),
        set[str](),
    )
    while waiting and len(seen) < pages:
        path = waiting.popleft().replace("&amp;", "&")
        if path in seen or "logout" in path or path.startswith("/static/"):
            continue
        seen.add(path)
        answer = session.get(address + path, timeout=60, allow_redirects=False)
        headers = {name: value for name, value in answer.headers.items() if name != "Set-Cookie"}
        texts[f"{person}: {path}"] = answer.content + str(headers).encode()
        waiting += [link.decode() for link in _LINK.findall(answer.content)]
    return cookies[0]


def _csrf(page: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    return found[1] if found else ""


def _call(server: Server, token: str, texts: Texts) -> None:
    """Call the API well and badly, also with secrets where they do not belong."""
    link = {"host": HOST, "link_id": "00000000-0000-4000-8000-000000000000", "portal_account_ref": ACCOUNT}
    bodies: list[dict[str, Any]] = [link, link | {"page": 0}, {"portal_account_ref": SECRET}]
    calls = [signed_call(body, secret=SECRET) for body in bodies]
    data, headers = calls[0]
    calls += [calls[0], (data + b" ", headers), (data, headers | {es1.SIGNATURE_HEADER: SECRET})]
    calls.append((data, headers | {es1.NONCE_HEADER: SECRET}))
    address = f"http://127.0.0.1:{server.port}"
    for number, (data, headers) in enumerate(calls):
        answer = requests.post(f"{address}/v1/site/dashboard", data=data, headers=headers, timeout=30)
        texts[f"call {number}: {answer.status_code}"] = answer.content + str(answer.headers).encode()
    for bearer, body in ((token, b"{"), (token[:-1], b"{"), (SECRET, b"")):
        answer = requests.post(
            f"{address}/v1/reports", data=body, headers={"Authorization": f"Bearer {bearer}"}, timeout=30
        )
        texts[f"report {bearer[-3:]}: {answer.status_code}"] = answer.content
    for bearer in (METRICS, METRICS[:-1], SECRET):
        answer = requests.get(f"{address}/metrics", headers={"Authorization": f"Bearer {bearer}"}, timeout=30)
        texts[f"metrics {bearer[-3:]}"] = answer.content


def _manage(environment: dict[str, str], texts: Texts, line: str, *, given: str | None = None) -> None:
    texts[f"manage.py {line}"] = _output(environment, line, given=given).encode()


def _output(environment: dict[str, str], line: str, *, given: str | None) -> str:
    """Return what a command prints, errors included."""
    done = _run(environment, [str(databases.ROOT / "manage.py"), *line.split()], given=given or "")
    return done.stdout if "--json" in line and done.returncode == 0 else done.stdout + done.stderr


# A new process for each command would take longer than all the commands.
_IN_TURN = """
import sys
from django.core.management import execute_from_command_line
for line in sys.argv[1:]:
    print("$ manage.py", line, flush=True)
    try:
        execute_from_command_line(["manage.py", *line.split()])
    except SystemExit:
        pass
"""


def _manage_in_turn(environment: dict[str, str], texts: Texts, lines: list[str]) -> Iterator[str]:
    """Run commands in one process; yield what ended it before the last of them."""
    done = _run(environment, ["-c", _IN_TURN, *lines])
    texts["manage.py"] = (done.stdout + done.stderr).encode()
    if done.returncode or len(re.findall(r"^\$ manage\.py ", done.stdout, re.MULTILINE)) != len(lines):
        yield f"the commands ended with {done.returncode}: {done.stderr[-2_000:]}"


def _run(
    environment: dict[str, str], arguments: list[str], *, given: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # our own interpreter
        [sys.executable, *arguments],
        cwd=databases.ROOT,
        env=os.environ | environment,
        check=False,
        capture_output=True,
        text=True,
        input=given,
    )


def _dump(environment: dict[str, str]) -> bytes:
    """Return all rows of the database as text."""
    url = environment["DATABASE_URL"]
    if url.startswith("postgres"):
        command = ["pg_dump", "--format=plain", url]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    lines: list[bytes] = []
    for file in databases.FOLDER.glob(f"{NAME}*.sqlite3"):
        with sqlite3.connect(file) as connection:
            tables = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
            ).fetchall()
            for (table,) in tables:
                lines += [str(row).encode() for row in connection.execute(f'SELECT * FROM "{table}"')]
        lines.append(file.read_bytes())  # also what was deleted
    return b"\n".join(lines)
