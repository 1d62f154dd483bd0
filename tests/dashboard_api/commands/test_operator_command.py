import pytest
from django.db import connection

from tests.dashboard_api.commands.running import run

pytestmark = pytest.mark.django_db


def test_a_command_waits_for_other_writers_as_long_as_they_take():
    run("prune")
    asked = {"sqlite": "PRAGMA busy_timeout", "postgresql": "SHOW lock_timeout"}[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(asked)
        assert cursor.fetchone() == {"sqlite": (3_600_000,), "postgresql": ("0",)}[connection.vendor]
