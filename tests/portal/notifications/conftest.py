"""An account with a website, and members with or without a subscription."""

import pytest

from portal.models import Subscription
from portal.notifications.polling import Audience
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user


@pytest.fixture(autouse=True)
def _mail(settings):
    settings.EMAIL_URL = "consolemail://"
    settings.PORTAL_BASE_URL = "https://portal.example.com"
    settings.DEFAULT_FROM_EMAIL = "threat-dashboard@example.com"


@pytest.fixture
def account():
    return make_portal_account(name="Example Shop")


@pytest.fixture
def website(account):
    return make_portal_website(account)


@pytest.fixture
def owner(account):
    return make_membership(make_user("owner"), account)


@pytest.fixture
def viewer(account):
    return make_membership(make_user("viewer"), account, "viewer")


@pytest.fixture
def subscribe():
    def subscribe(membership, **fields):
        defaults = {"frequency": Subscription.Frequency.IMMEDIATE, "language": "en"} | fields
        return Subscription.objects.update_or_create(membership=membership, defaults=defaults)[0]

    return subscribe


@pytest.fixture
def audience(website, owner):
    """Return the owner with the default subscription."""
    return Audience(website=website, subscriptions=[Subscription.of(owner)])
