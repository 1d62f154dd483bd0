import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from config.settings import master_keys

ONE = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
TWO = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="
NEEDED = {"SECRET_KEY": "for-one-check-" + "0123456789abcdef" * 3, "MASTER_KEYS": f"1:{ONE}"}
PRODUCTION = NEEDED | {
    "ALLOWED_HOSTS": "portal.example.com",
    "DASHBOARD_BASE_URL": "https://portal.example.com",
}


@pytest.mark.parametrize("name", ["SECRET_KEY", "MASTER_KEYS"])
def test_a_start_without_a_key_is_refused_with_what_to_set(checkout, name):
    done = checkout.manage("check", **{key: value for key, value in NEEDED.items() if key != name})
    assert done.returncode == 1
    assert f"ImproperlyConfigured: {name} is not set." in done.stderr


@pytest.mark.parametrize("environ", [NEEDED, PRODUCTION], ids=["loopback", "production"])
@pytest.mark.parametrize("without", ["", "ENABLE_API", "ENABLE_PORTAL"])
def test_the_checks_pass_for_both_apps_together_and_each_alone(checkout, environ, without):
    alone = {without: "false"} if without else {}
    done = checkout.manage("check", "--fail-level", "WARNING", **environ, **alone)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_deployment_passes_djangos_deployment_checks(checkout):
    done = checkout.manage("check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_deployment_checks_notice_a_weak_key(checkout):
    done = checkout.manage(
        "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION | {"SECRET_KEY": "abc"}
    )
    assert done.returncode == 1
    assert "security.W009" in done.stderr


@pytest.mark.parametrize("disabled", ["ENABLE_API", "ENABLE_PORTAL"])
def test_either_app_alone_migrates_an_empty_database(checkout, tmp_path, disabled):
    environ = NEEDED | {disabled: "false", "DATABASE_URL": f"sqlite:///{tmp_path}/records.sqlite3"}
    for alias in ("default", "short_lived"):
        done = checkout.manage("migrate", "--database", alias, "--verbosity", "0", **environ)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.django_db
def test_models_and_migrations_agree():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_master_keys_are_read_newest_first():
    assert master_keys(f"1:{ONE}, 2:{TWO}") == [TWO, ONE]


@pytest.mark.parametrize(
    "text", ["", ONE, f"0:{ONE}", f"one:{ONE}", "1:short", f"1:{ONE},", f"1:{ONE};2:{TWO}"]
)
def test_master_keys_of_another_shape_are_refused_without_showing_them(text):
    with pytest.raises(ImproperlyConfigured, match="MASTER_KEYS must look like") as refusal:
        master_keys(text)
    assert not text or ONE not in str(refusal.value)


def test_a_key_number_given_twice_is_refused():
    with pytest.raises(ImproperlyConfigured, match="names key 1 twice"):
        master_keys(f"1:{ONE},1:{TWO}")
