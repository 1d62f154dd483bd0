import pytest

from config.identity import account_emails, passwords
from tests.config.checkout import Checkout
from tests.processes import made_once


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """A folder for tests that leave no files."""
    return Checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory):
    """A checkout with the demo, and the output of its setup; copy it before changing it."""

    def run(folder):
        demo = Checkout(folder)
        return demo, demo.manage("demo", "--no-serve", "--port", "8123")

    return made_once(tmp_path_factory, "demo", run)


@pytest.fixture
def fresh_checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.fixture
def at_once(monkeypatch):
    """Run background jobs within the request."""
    monkeypatch.setattr(account_emails, "run_for_member", lambda job: job())
    monkeypatch.setattr(passwords, "run_later", lambda job: job())
