"""Fixtures of every test."""

import gc

import hypothesis
import pytest
from django.core.cache import cache
from django.db import connections
from django.test import TransactionTestCase
from django.utils import translation

from config.web import form_limit
from dashboard_api.api import signed
from dashboard_api.models import nonces
from tests import databases, factories
from tests import redis_server as own_redis
from tests.audit import triggers

# How long an example takes says something about the machine, not about the code.
hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=10_000)
hypothesis.settings.load_profile("any machine")

gc.disable()  # until all tests are collected, which makes a million objects


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop():
    """Let the collector of garbage pass over the collected tests from now on: a tenth of a run was this."""
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()


def pytest_collection_modifyitems(config, items):
    """Let tests of the database use all of it: SQLite has nonces and sessions in a second file.

    A checkout has SQLite files of its own, whatever the database of the tests, and the docs have none. Long
    tests run only where ``-m`` names them.
    """
    long = [item for item in items if item.get_closest_marker("long")]
    if "long" not in config.option.markexpr:
        items[:] = [item for item in items if item not in long]
        config.hook.pytest_deselected(items=long)
    for item in items:
        if "checkout" in item.fixturenames or item.path.parent.name == "docs":
            item.add_marker("once")
        for marker in item.iter_markers("django_db"):
            marker.kwargs.setdefault("databases", "__all__")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """Let tests empty the tables of audit events and of calls on record, which triggers refuse."""
    with django_db_blocker.unblock():
        for alias in connections:
            triggers.remove(connections[alias])
        databases.remember_migrated()
    yield
    with django_db_blocker.unblock():
        databases.end_other_sessions()


def _empty_databases(case):
    for alias in case._databases_names(include_mirrors=False):
        databases.empty(alias)


TransactionTestCase._fixture_teardown = _empty_databases


@pytest.fixture(autouse=True)
def _nothing_counted():
    """Forget failed sign-ins of earlier tests."""
    cache.clear()


@pytest.fixture(autouse=True)
def _numbered_from_one():
    """Start every test with the same numbers, so that names and lengths do not depend on earlier tests."""
    factories.number_again()


@pytest.fixture(autouse=True)
def _nothing_noted():
    """Forget the use of secrets, and whose requests were slow, in earlier tests."""
    nonces.forget_uses()
    signed._slow_callers._slow_until.clear()
    form_limit._slow_senders._slow_until.clear()


@pytest.fixture(autouse=True)
def _in_english():
    """Forget the language of an earlier test's last page."""
    translation.deactivate()


@pytest.fixture
def redis_server(tmp_path):
    """A Redis that the test can stop."""
    server = own_redis.running(tmp_path)
    yield server
    server.kill()
