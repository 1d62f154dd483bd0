import pytest
from cryptography.fernet import Fernet
from django.core.checks import run_checks


def ids(**options):
    return {message.id for message in run_checks(tags=["security"], **options)}


@pytest.mark.parametrize("keys", [[], ["short"], [Fernet.generate_key().decode(), "é" * 43 + "="]])
def test_check_refuses_master_keys_that_do_not_work(settings, keys):
    settings.MASTER_KEYS = keys
    assert "dashboard_api.E001" in ids()


def test_check_accepts_master_keys_that_work():
    assert "dashboard_api.E001" not in ids()


@pytest.mark.parametrize("allowed", [True, False])
def test_deployment_check_refuses_private_hosts(settings, allowed):
    settings.ALLOW_PRIVATE_HOSTS = allowed
    assert ("dashboard_api.E002" in ids(include_deployment_checks=True)) is allowed


def test_private_hosts_are_fine_before_deployment(settings):
    settings.ALLOW_PRIVATE_HOSTS = True
    assert "dashboard_api.E002" not in ids()
