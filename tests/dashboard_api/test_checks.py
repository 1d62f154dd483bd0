import pytest
from django.core.checks import run_checks


def ids(**options):
    return {message.id for message in run_checks(tags=["security"], **options)}


@pytest.mark.parametrize("allowed", [True, False])
def test_deployment_check_refuses_private_hosts(settings, allowed):
    settings.ALLOW_PRIVATE_HOSTS = allowed
    assert ("dashboard_api.E002" in ids(include_deployment_checks=True)) is allowed


def test_private_hosts_are_fine_before_deployment(settings):
    settings.ALLOW_PRIVATE_HOSTS = True
    assert "dashboard_api.E002" not in ids()
