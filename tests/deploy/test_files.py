"""The files in deploy/ and the commands of docs/operating name what exists."""

import fnmatch
import os
import re
import shlex
import shutil
import subprocess
from ipaddress import ip_address, ip_network

import pytest
import yaml
from django.core.management import get_commands, load_command_class
from django.core.management.base import CommandError
from django.db import connections

from config.operations.databases import SHORT_LIVED
from config.settings import env
from tests.config.checkout import BASE_DIR

DEPLOY = BASE_DIR / "deploy"
UNITS = DEPLOY / "systemd"
GUIDES = [BASE_DIR / "docs" / "operating.md", *sorted((BASE_DIR / "docs" / "operating").glob("*.md"))]
DOCUMENT = "\n".join(file.read_text() for file in GUIDES)
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
CRONTAB = (DEPLOY / "crontab").read_text()

TIMERS = {file.stem.partition("@")[2] for file in UNITS.glob("dashboard-job@*.timer")}


def arguments_of(job):
    """Return the arguments with which the unit of a job calls manage.py."""
    file = UNITS / f"dashboard-job@{job}.service.d" / "arguments.conf"
    given = (
        re.search(r'^Environment="?ARGUMENTS=([^"\n]*)', file.read_text(), re.MULTILINE)
        if file.exists()
        else None
    )
    return f"{job} {given[1] if given else ''}".strip()


def documented():
    """Yield the calls of manage.py in the page's blocks, as lists of arguments."""
    for block in re.findall(r"```sh\n(.*?)```", DOCUMENT, re.DOTALL):
        plain = re.sub(r'"\$\([^)]*\)"', "SOME", block)
        for call in re.findall(r"(?:dashboard-manage|manage\.py) ([a-z][^)>\n|&]+)", plain):
            yield shlex.split(call.partition(" <")[0], comments=True)


CALLS = sorted(
    {tuple(words) for words in documented()} | {tuple(arguments_of(job).split()) for job in TIMERS}
)


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_every_command_of_the_page_and_of_the_units_exists_with_its_options(words):
    name, *arguments = words
    if SHORT_LIVED in arguments and SHORT_LIVED not in connections:
        pytest.skip("of SQLite only")
    assert name in get_commands(), f"manage.py {name}"
    app = get_commands()[name]
    command = load_command_class(app, name) if isinstance(app, str) else app
    parser = command.create_parser("manage.py", name)
    try:
        parser.parse_args(["1" if word == "REF" else word for word in arguments])
    except CommandError as error:
        if "required" not in str(error):  # the page's short forms leave arguments out
            pytest.fail(f"{words}: {error}")


def test_dashboard_manage_passes_no_setting_of_the_shell_on(tmp_path):
    script = (DEPLOY / "dashboard-manage").read_text().replace("/srv/threat-dashboard", str(tmp_path))
    fake = tmp_path / "runuser"
    fake.write_text('#!/bin/sh\necho "$@"\nenv\n')
    fake.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SITE_API_SECRET": "for a call"}
    shell = ["sh", "-c", script, "-", "doctor"]
    done = subprocess.run(shell, env=environ, capture_output=True, text=True, check=True)
    assert "manage.py doctor\n" in done.stdout
    assert "SITE_API_SECRET" not in done.stdout
    assert "\nLOG_FORMAT=text\n" in done.stdout  # no line of the log hides a secret that is shown once


def test_page_timers_and_crontab_have_the_same_jobs():
    table = DOCUMENT.partition("\n## Jobs\n")[2].partition("\n## ")[0]
    in_units = {arguments_of(job) for job in TIMERS}
    assert set(re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)) == in_units
    assert set(re.findall(r"\$MANAGE (.+?) (?:>/dev/null|\| logger .*)$", CRONTAB, re.MULTILINE)) == in_units


def test_every_command_with_a_heartbeat_has_a_timer():
    """Only clearsessions, Django's own command, is a job without one."""
    commands = {
        name: load_command_class(app, name) if isinstance(app, str) else app
        for name, app in get_commands().items()
    }
    beating = {name for name, command in commands.items() if getattr(command, "interval", None)}
    assert beating | {"clearsessions"} == TIMERS
    section = DOCUMENT.partition("\n## Heartbeats\n")[2].partition("\n## ")[0]
    assert {name for name in commands if f"`{name}`" in section} == beating


def test_every_folder_of_a_job_is_writable_in_its_unit_and_in_the_containers():
    folders = {word for job in TIMERS for word in arguments_of(job).split() if word.startswith("/")}
    unit = (UNITS / "dashboard-job@.service").read_text()
    writable = re.search(r"^ReadWritePaths=(.*)$", unit, re.MULTILINE)[1].replace("-/", "/").split()
    assert folders <= set(writable)
    mounted = {volume.partition(":")[2] for volume in COMPOSE["services"]["web-1"]["volumes"]}
    assert folders <= mounted


def blocks_of(section):
    """Return the blocks of commands in a section, each as its lines."""
    text = DOCUMENT.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return [block.splitlines() for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]


def lines_of(section):
    """Return the lines of the first block of commands in a section."""
    return blocks_of(section)[0]


def stopped_by(line):
    """Return the kinds of units that a line stops. It stops timers first, which would start jobs again."""
    timers, _, rest = (part.removeprefix("systemctl stop ") for part in line.partition(" && "))
    assert all(fnmatch.fnmatch(f"dashboard-job@{job}.timer", *shlex.split(timers)) for job in TIMERS)
    units = {
        "web": "dashboard-web@8001.service",
        "crawl": "dashboard-crawl@1.service",
        "job": "dashboard-job@import_inbox.service",
    }
    patterns = shlex.split(rest)
    return {kind for kind, unit in units.items() if any(fnmatch.fnmatch(unit, each) for each in patterns)}


@pytest.mark.parametrize(
    ("section", "kinds", "change"),
    [
        ("Upgrade", {"job", "crawl"}, "git checkout "),
        ("Restore", {"web", "job", "crawl"}, "mv "),
        ("SQLite to PostgreSQL", {"web", "job", "crawl"}, "dashboard-manage move_to "),
    ],
)
def test_nothing_works_on_while_its_code_or_database_is_replaced(section, kinds, change):
    lines = lines_of(section)
    [stop] = [number for number, line in enumerate(lines) if line.startswith("systemctl stop ")]
    [replaced] = [number for number, line in enumerate(lines) if line.startswith(change)]
    assert stopped_by(lines[stop]) == kinds
    assert stop < replaced


def test_whatever_is_enabled_is_started_again(tmp_path):
    """The last line of each section, with a systemctl that shows its arguments."""
    enabled = ["dashboard-web@8000.service", "dashboard-web@8001.service", "dashboard-crawl@1.service"]
    timers = ["dashboard-job@notify.timer", "dashboard-job@prune.timer"]
    for target, units in (("multi-user", [*enabled, "nginx.service"]), ("timers", [*timers, "fstrim.timer"])):
        (tmp_path / f"{target}.target.wants").mkdir()
        for unit in units:
            (tmp_path / f"{target}.target.wants" / unit).touch()
    for section in ("Upgrade", "Restore", "SQLite to PostgreSQL"):
        line = lines_of(section)[-1].replace("/etc/systemd/system", str(tmp_path))
        done = subprocess.run(
            ["bash", "-c", f"systemctl() {{ echo $*; }}\n{line}"], capture_output=True, text=True, check=True
        )
        assert set(done.stdout.split()) == {"start", *enabled, *timers}


@pytest.mark.parametrize(
    "unit", ["dashboard-web@.service", "dashboard-job@.service", "dashboard-crawl@.service"]
)
def test_a_unit_calls_programs_of_the_documented_folder_as_an_ordinary_user(unit):
    text = (UNITS / unit).read_text()
    assert re.search(
        r"^ExecStart=/srv/threat-dashboard/\.venv/bin/(gunicorn config\.wsgi|python manage\.py) ",
        text,
        re.MULTILINE,
    )
    assert "\nUser=dashboard\n" in text
    assert 'git clone "$REPOSITORY" /srv/threat-dashboard\n' in DOCUMENT
    assert (
        "useradd --system --home-dir /srv/threat-dashboard --shell /usr/sbin/nologin dashboard\n" in DOCUMENT
    )


def test_a_crashed_nginx_comes_back():
    """Debian's unit has no Restart, and the drop-in is copied with the units."""
    lines = (UNITS / "nginx.service.d" / "dashboard.conf").read_text().splitlines()
    assert lines.index("[Unit]") < lines.index("StartLimitIntervalSec=0") < lines.index("[Service]")
    assert lines.index("[Service]") < lines.index("Restart=on-failure")
    assert "\ncp -r deploy/systemd/. /etc/systemd/system/\nsystemctl daemon-reload\n" in DOCUMENT


@pytest.mark.parametrize(
    ("unit", "lines"),
    [
        ("web", {"Restart=always"}),  # after a crash
        ("crawl", {"Restart=always", "MemoryMax=2G", "OOMPolicy=continue"}),  # a large scanner ends alone
        ("job", {"Type=oneshot", "SuccessExitStatus=SIGTERM"}),  # a job that is stopped has not failed
    ],
)
def test_a_unit_comes_back_or_ends_well_and_says_when_it_fails(unit, lines):
    text = (UNITS / f"dashboard-{unit}@.service").read_text()
    assert lines <= set(text.splitlines())
    assert "\nOnFailure=dashboard-failed@%n.service\n" in text.partition("[Service]")[0]
    assert "\nExecStart=/usr/bin/logger " in (UNITS / "dashboard-failed@.service").read_text()


CODE = {file.parent.name for file in BASE_DIR.glob("*/__init__.py")} - {"benchmarks", "tests"}


def test_code_is_compiled_once_because_the_service_cannot_write_it():
    def is_whole(line):
        return set(line.split(" -q ")[1].removesuffix(" \\").split()) == CODE

    for section in ("One machine", "Upgrade"):
        lines = [line for block in blocks_of(section) for line in block]
        [compiled] = [number for number, line in enumerate(lines) if " compileall " in line]
        assert is_whole(lines[compiled])
        assert lines.index("make setup") < compiled < lines.index("dashboard-manage migrate --verbosity 0")
    [line] = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if " compileall " in line]
    assert is_whole(line)


def test_all_units_are_shielded_alike():
    names = r"(User=|Group=|UMask|NoNew|Protect|Private|Restrict[A-Z]|Lock|Capability|SystemCall)"
    web, job, crawl = (
        {
            line
            for line in (UNITS / f"dashboard-{unit}@.service").read_text().splitlines()
            if re.match(names, line)
        }
        for unit in ("web", "job", "crawl")
    )
    assert web == job
    # What bubblewrap needs to build the wall around scanners.
    assert web - crawl == {
        *("ProtectKernelTunables=yes", "ProtectKernelLogs=yes", "ProtectHostname=yes"),
        *("RestrictNamespaces=yes", "SystemCallFilter=@system-service"),
        "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
    }
    assert crawl - web == {
        "RestrictNamespaces=user mnt pid net ipc uts cgroup",
        "SystemCallFilter=@system-service @mount",
        "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK",
    }
    assert {"RestrictNamespaces=yes", "ProtectProc=invisible", "SystemCallArchitectures=native"} <= web


def test_systemd_accepts_the_units(tmp_path):
    if shutil.which("systemd-analyze") is None:
        without = pytest.fail if os.environ.get("REQUIRE_SYSTEMD") == "1" else pytest.skip
        without("systemd-analyze is not installed (Debian: apt install systemd)")
    shutil.copytree(UNITS, tmp_path, dirs_exist_ok=True)
    for file in tmp_path.glob("*.service"):  # their programs are not on this machine
        file.write_text(
            re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", file.read_text(), flags=re.MULTILINE)
        )
    shutil.copy(tmp_path / "dashboard-web@.service", tmp_path / "dashboard-web@8000.service")
    shutil.copy(tmp_path / "dashboard-crawl@.service", tmp_path / "dashboard-crawl@1.service")
    shutil.copy(tmp_path / "dashboard-failed@.service", tmp_path / "dashboard-failed@a.service")
    names = ("web@8000", "crawl@1", "failed@a")
    numbered = [tmp_path / f"dashboard-{name}.service" for name in names]
    files = [*numbered, *tmp_path.glob("*.timer")]
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=one", *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, str(tmp_path) in checked.stderr) == (0, False), checked.stderr


def test_the_compose_file_names_files_settings_and_services_that_exist():
    services = COMPOSE["services"]
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        if build := service.get("build"):
            assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()
            assert set(service["environment"]) <= env.names
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            is_of_host = f" {source}" in DOCUMENT  # made by the page
            assert (
                source in COMPOSE["volumes"]
                or source == "./certificates"
                or is_of_host
                or (DEPLOY / source).is_file()
            )
    assert "deploy/certificates" in (DEPLOY / "Dockerfile.dockerignore").read_text()


def test_two_workers_of_nginx_have_room_for_all_connections_that_one_machine_opens_to_a_port():
    nginx = (DEPLOY / "nginx.conf").read_text()
    connections, files = (
        int(re.search(rf"^ *{name} (\d+);", nginx, re.MULTILINE)[1])
        for name in ("worker_connections", "worker_rlimit_nofile")
    )
    assert 2 * connections > 60_999 - 32_768  # Linux's ip_local_port_range
    assert files >= 2 * connections


def test_two_web_processes_of_the_compose_file_are_those_of_the_nginx_file():
    """nginx reaches them by this machine's loopback, and so each can restart without the other."""
    nginx = re.sub("# server ", "server ", (DEPLOY / "nginx.conf").read_text())
    services = COMPOSE["services"]
    web = {name: service for name, service in services.items() if "gunicorn" in service.get("command", [])}
    bound = [service["command"][-1] for service in web.values()]
    assert bound == ["127.0.0.1:8000", "127.0.0.1:8001"]
    assert re.findall(r"^        server (.*) max_fails=0;", nginx, re.MULTILINE) == bound * 2
    for service in web.values():
        assert f"http://{service['command'][-1]}/readyz" in " ".join(service["healthcheck"]["test"])
    of_host = {name for name, service in services.items() if service.get("network_mode") == "host"}
    assert of_host == {"nginx", *web}
    assert not any("ports" in service for service in services.values())


def test_jobs_of_containers_read_the_settings_that_the_compose_file_requires():
    """Docker Compose looks for .env next to compose.yaml unless it is named."""
    [command] = re.findall(r"^#MANAGE=(.+)$", CRONTAB, re.MULTILINE)
    words = shlex.split(command)
    text = (DEPLOY / "compose.yaml").read_text()
    assert re.findall(r"\$\{\w+:\?\}", text)
    assert words[:4] == ["docker", "compose", "--env-file", "/srv/threat-dashboard/.env"]
    assert words[5] == "/srv/threat-dashboard/deploy/compose.yaml"
    assert words[-3] in COMPOSE["services"]
    [of_page] = re.findall(r'^dc\(\) { (.+) "\$@"; }$', DOCUMENT, re.MULTILINE)
    assert shlex.split(of_page) == words[:6]
    assert not re.findall(r"^docker compose .*$", DOCUMENT, re.MULTILINE)


def test_the_page_makes_a_crontab_of_the_jobs_for_containers():
    [command] = re.findall(r"^(sed .+) > /etc/cron.d/threat-dashboard$", DOCUMENT, re.MULTILINE)
    made = subprocess.run(
        shlex.split(command), cwd=BASE_DIR, capture_output=True, text=True, check=True
    ).stdout
    assert re.findall("^MANAGE=(.+)$", made, re.MULTILINE) == re.findall(
        "^#MANAGE=(.+)$", CRONTAB, re.MULTILINE
    )
    users = {line.split()[5] for line in made.splitlines() if "$MANAGE" in line}
    assert users == {"root"}


def test_postgresql_and_redis_are_reached_by_their_sockets_alone():
    services = COMPOSE["services"]
    settings = services["web-1"]["environment"]
    volumes = dict(volume.split(":", 1) for volume in services["web-1"]["volumes"])
    assert settings["DATABASE_URL"] == f"postgres://dashboard@/{volumes['postgresql']}/dashboard"
    assert settings["REDIS_URL"] == f"unix://{volumes['redis']}/redis.sock"
    assert "postgresql:/var/run/postgresql" in services["database"]["volumes"]
    assert "redis:/data" in services["redis"]["volumes"]
    assert "--port 0 --unixsocket /data/redis.sock " in services["redis"]["command"]
    without_network = {name for name, service in services.items() if service.get("network_mode") == "none"}
    assert without_network == {"database", "redis"}


def test_every_service_has_small_logs_a_health_check_and_files_that_it_cannot_change():
    for name, service in COMPOSE["services"].items():
        assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}
        assert ("healthcheck" in service) == (name not in {"migrate", "crawl"})
        if "build" in service:
            assert service["read_only"]
            assert service["cap_drop"] == ["ALL"]
            of_bubblewrap = ["seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"]
            own = of_bubblewrap if name == "crawl" else []
            assert service["security_opt"] == ["no-new-privileges:true", *own]
    # The image of the database makes it with a server that answers at the socket, and then stops that.
    assert "--host" in COMPOSE["services"]["database"]["healthcheck"]["test"]


UPGRADE_OF_CONTAINERS = (
    DOCUMENT.partition("\n## Upgrade containers\n")[2]
    .partition("```sh\n")[2]
    .partition("```")[0]
    .splitlines()
)


def test_an_upgrade_of_containers_replaces_one_web_process_after_the_other():
    started = [line.partition("  ")[0] for line in UPGRADE_OF_CONTAINERS if line.startswith("dc up")]
    up = "dc up --detach --wait"
    assert started == [f"{up} web-1", f"{up} web-2", up]


def test_the_worker_of_scans_is_the_one_of_its_unit_and_starts_only_if_it_is_wanted():
    worker, web = COMPOSE["services"]["crawl"], COMPOSE["services"]["web-1"]
    unit = (UNITS / "dashboard-crawl@.service").read_text()
    assert " ".join(worker["command"]) == re.search(r"^ExecStart=\S+/bin/(.*)$", unit, re.MULTILINE)[1]
    assert re.search(r"^MemoryMax=(.*)G$", unit, re.MULTILINE)[1] + "g" == worker["mem_limit"]
    assert f"TasksMax={worker['pids_limit']}\n" in unit
    assert f"TimeoutStopSec={worker['stop_grace_period'].removesuffix('s')}\n" in unit
    section = DOCUMENT.partition("\n## Start a worker\n")[2].partition("\n## ")[0]
    assert f"`COMPOSE_PROFILES={worker['profiles'][0]}`" in section
    kept = ("environment", "env_file", "image", "build", "volumes", "read_only", "tmpfs", "cap_drop")
    assert {name: worker[name] for name in kept} == {name: web[name] for name in kept}
    assert "network_mode" not in worker  # it must reach the internet, and nothing has to reach it


def test_repository_and_image_hold_no_secret_and_the_image_copies_files_that_exist():
    assert "deploy/certificates/" in (BASE_DIR / ".gitignore").read_text().splitlines()
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert {"**/.env", ".git", "var"} <= set(ignored)
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    for names in re.findall(r"^COPY (.+) \./$", dockerfile, re.MULTILINE):
        assert all((BASE_DIR / name).is_file() for name in names.split())
    for lock in re.findall(r"--require-hashes --no-deps -r (\S+)", dockerfile):
        assert (BASE_DIR / lock).is_file()


def test_no_scanner_reaches_a_private_network_but_this_machine():
    unit = (UNITS / "dashboard-crawl@.service").read_text()
    denied = [ip_network(each) for each in re.search("^IPAddressDeny=(.*)$", unit, re.MULTILINE)[1].split()]

    def is_denied(address):
        return any(ip_address(address) in network for network in denied)

    private = ("10.1.2.3", "100.64.0.1", "169.254.169.254", "172.31.0.1", "192.168.1.1", "fd00::1", "fe80::1")
    assert all(map(is_denied, private))
    assert not any(map(is_denied, ("127.0.0.1", "::1", "8.8.8.8", "172.32.0.1", "2606:4700::1111")))


def in_bash(script, **where):
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, **where)


def test_a_repeated_upgrade_remembers_the_version_before_it(tmp_path):
    """An operator repeats the lines after one of them failed; to go back is of no use then otherwise."""
    backups = tmp_path / "backups"
    backups.mkdir()
    in_bash(
        "git init -q origin && cd origin && git config user.name x && git config user.email x@example.com "
        "&& git commit -q --allow-empty -m old && git branch -M main && git clone -q . ../here "
        "&& git commit -q --allow-empty -m new",
        cwd=tmp_path,
    )
    for section in (lines_of("Upgrade"), UPGRADE_OF_CONTAINERS):
        in_bash("git checkout -q --detach ':/old'", cwd=tmp_path / "here")
        git = [line for line in section if "git " in line]
        script = "\n".join(["VERSION=main", *git]).replace("/var/backups/threat-dashboard", str(backups))
        for _repeated in range(2):
            in_bash(script, cwd=tmp_path / "here")
        before = (backups / "version-before").read_text().strip()
        subjects = in_bash(f"git log -1 --format=%s {before}; git log -1 --format=%s", cwd=tmp_path / "here")
        assert subjects.stdout.split() == ["old", "new"]


def test_a_repeated_restore_keeps_what_the_first_one_put_away(tmp_path):
    lines = [line for line in lines_of("Restore") if line.startswith(("DAMAGED=", "install", "mv "))]
    script = "\n".join(lines).replace("/srv/threat-dashboard", str(tmp_path)).replace("-o dashboard ", "")
    (tmp_path / "var").mkdir()
    for number in ("1", "2"):
        (tmp_path / "var" / "records.sqlite3").write_text(number)
        in_bash(f"date() {{ echo {number}; }}\n{script}")
    assert {file.read_text() for file in tmp_path.glob("var/*/records.sqlite3")} == {"1", "2"}


def test_a_failed_move_to_postgresql_leaves_the_settings_on_sqlite(tmp_path):
    block = "\n".join(lines_of("SQLite to PostgreSQL"))
    moves = block[block.index("dashboard-manage move_to") : block.index("systemctl start")]
    script = moves.replace("/srv/threat-dashboard", str(tmp_path))
    for status, database in ((1, "sqlite"), (0, "postgres")):
        (tmp_path / ".env").write_text("DATABASE_URL=sqlite:///var/records.sqlite3\n")
        in_bash(f"dashboard-manage() {{ return {status}; }}\n{script}")
        assert (tmp_path / ".env").read_text().startswith(f"DATABASE_URL={database}:")


@pytest.mark.parametrize("section", ["One machine", "Containers"])
def test_a_repeated_setup_keeps_the_keys(section, tmp_path):
    text = DOCUMENT.partition(f"\n## {section}\n")[2]
    script = re.search(
        r"^[^\n]*\(umask 077; cat > \.env\) <<END\n.*?\nEND\n", text, re.DOTALL | re.MULTILINE
    )[0]
    script = re.sub(r"\$\([^\n]+\)", "$RANDOM", script)
    for _repeated in range(2):
        in_bash(script, cwd=tmp_path)
        written = (tmp_path / ".env").read_text()
        (tmp_path / ".env").write_text(f"{written}MORE=settings\n")
    assert (tmp_path / ".env").read_text().count("MORE=settings") == 2
