import re

import pytest
from django.conf import settings
from django.core.management import call_command

from config.operations.environment import hosts
from config.settings import env
from tests.config.operations.test_environment import NEEDED, ONE

PRODUCTION = NEEDED | {
    "ALLOWED_HOSTS": "portal.example.com",
    "PORTAL_BASE_URL": "https://portal.example.com",
}


@pytest.mark.parametrize("name", ["SECRET_KEY", "MASTER_KEYS"])
def test_a_start_without_a_key_is_refused_with_what_to_set(checkout, name):
    done = checkout.manage("check", **{key: value for key, value in NEEDED.items() if key != name})
    assert done.returncode == 1
    assert done.stderr.startswith(f"{name} is not set.")
    assert "Traceback" not in done.stderr


def test_every_wrong_setting_is_reported_at_once(checkout):
    wrong = {"DEBUG": "ja", "DATABASE_URL": "mysql://here", "SUPPORT_URL": "javascript:alert(1)"}
    done = checkout.manage("check", **NEEDED | wrong)
    assert done.returncode == 1
    assert {line.split()[0] for line in done.stderr.splitlines()} == set(wrong)


def test_a_server_refuses_to_start_with_the_same_lines(checkout):
    done = checkout.python("-c", "import config.wsgi", **NEEDED | {"ALLOWED_HOSTS": "*"})
    assert done.returncode == 3
    assert done.stderr.startswith("ALLOWED_HOSTS has *")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command", [("manage.py", "check"), ("-c", "import config.wsgi")], ids=["job", "web"]
)
def test_a_start_with_a_broken_line_of_the_file_names_its_number_and_shows_none_of_it(
    fresh_checkout, command
):
    file = fresh_checkout.folder / ".env"
    file.write_text(f"MASTER_KEYS=2:{ONE},\n1:{ONE}\n# a comment\nnonsense here\n")
    done = fresh_checkout.python(*command, SECRET_KEY=NEEDED["SECRET_KEY"])
    assert done.returncode
    assert done.stdout == ""
    assert [line.split(" is ")[0] for line in done.stderr.splitlines()] == [
        f"Line 2 of {file}",
        f"Line 4 of {file}",
    ]


def test_a_start_with_a_file_that_cannot_be_read_says_so_without_a_traceback(fresh_checkout):
    (fresh_checkout.folder / ".env").mkdir()
    for command in ("check", "demo"):
        done = fresh_checkout.manage(command, **NEEDED)
        assert done.returncode == 1
        assert re.fullmatch(r"\S+/\.env cannot be read by the user \w+: Is a directory\.\n", done.stderr)


@pytest.mark.parametrize(("is_terminal", "hidden"), [(True, True), (False, False)])
def test_audit_events_do_not_bury_the_output_of_a_command_at_a_terminal(checkout, is_terminal, hidden):
    code = "from config.settings import LOGGING; print('audit' in LOGGING['loggers'])"
    terminal = f"import sys; sys.stderr.isatty = lambda: {is_terminal}; {code}"
    assert checkout.python("-c", terminal, **PRODUCTION).stdout == f"{hidden}\n"


def test_a_blank_around_a_value_hides_nothing_from_the_checks(checkout):
    done = checkout.manage("check", **PRODUCTION | {"DEBUG": " true"})
    assert "DEBUG shows code and settings to every visitor" in done.stderr


@pytest.mark.once
@pytest.mark.parametrize(
    "environ",
    [NEEDED, pytest.param(PRODUCTION, marks=pytest.mark.slow)],
    ids=["loopback", "production"],
)
@pytest.mark.parametrize("without", ["", "ENABLE_API", "ENABLE_PORTAL"])
def test_the_checks_pass_for_both_apps_together_and_each_alone(checkout, environ, without):
    alone = {without: "false"} if without else {}
    if without == "ENABLE_API":
        alone["DASHBOARD_BASE_URL"] = "https://api.example.com"
    done = checkout.manage("check", "--fail-level", "WARNING", **environ, **alone)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_deployment_passes_djangos_deployment_checks(checkout):
    environ = PRODUCTION | {"TRUST_PROXY": "true", "SQLITE_SYNCHRONOUS": "FULL"}
    done = checkout.manage("check", "--deploy", "--fail-level", "WARNING", **environ)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("given", "seconds"), [({}, 3600), ({"HSTS_SECONDS": "60"}, 60)])
def test_browsers_are_bound_to_https_for_as_long_as_the_operator_chooses(checkout, given, seconds):
    done = checkout.manage("diffsettings", "--output", "unified", **PRODUCTION, **given)
    assert f"\n+ SECURE_HSTS_SECONDS = {seconds}\n" in done.stdout
    assert "SECURE_HSTS_PRELOAD" not in done.stdout  # as Django has it: not sent
    assert "SECURE_HSTS_INCLUDE_SUBDOMAINS" not in done.stdout


def test_a_setting_without_a_value_is_as_if_it_was_not_there(checkout):
    given = PRODUCTION | {"PYTHONHASHSEED": "0"}  # sets are printed in one order
    blank = {name: " " for name in env.names if name not in PRODUCTION}
    without, done = (checkout.manage("diffsettings", "--all", **given, **more) for more in ({}, blank))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == without.stdout


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("disabled", ["ENABLE_API", "ENABLE_PORTAL"])
def test_either_app_alone_migrates_an_empty_database(checkout, tmp_path, disabled):
    environ = NEEDED | {
        disabled: "false",
        "DATABASE_URL": f"sqlite:///{tmp_path}/records.sqlite3",
        "DASHBOARD_BASE_URL": "https://api.example.com",
    }
    for alias in ("default", "short_lived"):
        done = checkout.manage("migrate", "--database", alias, "--verbosity", "0", **environ)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.once
def test_the_apps_can_be_migrated_one_after_the_other(checkout, tmp_path):
    environ = NEEDED | {"DATABASE_URL": f"sqlite:///{tmp_path}/records.sqlite3"}
    for app in ("config", "portal", "dashboard_api"):
        done = checkout.manage("migrate", app, "--verbosity", "0", **environ)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("app", ["config", "dashboard_api", "portal"])
def test_migrations_import_nothing_of_the_product(app):
    for file in settings.BASE_DIR.joinpath(app, "migrations").glob("*.py"):
        assert not re.search(r"^\s*(from|import) (config|dashboard_api|es1|portal)\b", file.read_text(), re.M)


@pytest.mark.django_db
def test_models_and_migrations_agree():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_hosts_are_read_without_blanks():
    assert hosts(" portal.example.com, [::1] ,,127.0.0.1") == ["portal.example.com", "[::1]", "127.0.0.1"]


@pytest.mark.parametrize(
    ("sender", "expected"),
    [
        ("", "Threat Dashboard <threat-dashboard@localhost>"),
        ("alerts@example.com", "Threat Dashboard <alerts@example.com>"),
        ("Example Alerts <alerts@example.com>", "Example Alerts <alerts@example.com>"),
    ],
)
def test_e_mails_have_the_name_of_their_sender(checkout, sender, expected):
    code = "from config.settings import DEFAULT_FROM_EMAIL; print(DEFAULT_FROM_EMAIL)"
    environ = {"DEFAULT_FROM_EMAIL": sender} if sender else {}
    assert checkout.python("-c", code, **PRODUCTION | environ).stdout == f"{expected}\n"
