import pytest

from portal.answers import service
from portal.gateway.errors import Misconfigured
from portal.models import Account, Website
from tests.factories import SECRET, make_portal_website
from tests.signed_api.responses import HOST

pytestmark = pytest.mark.django_db


def test_secret_never_appears_in_a_repr():
    assert SECRET not in repr(service.signer_of_website(make_portal_website()))


def test_website_with_an_unreadable_secret_is_misconfigured(settings):
    website = make_portal_website()
    settings.MASTER_KEYS = ["YW5vdGhlci1rZXktZm9yLXRlc3RzLTAxMjM0NTY3ODk="]
    with pytest.raises(Misconfigured, match=r"manage\.py connect_account acct_0001"):
        service.signer_of_website(website)


def test_website_of_the_environments_account_needs_no_stored_secret(settings):
    settings.PORTAL_ACCOUNT_REF, settings.SITE_API_SECRET = "acct_0009", "from the environment"
    website = Website(account=Account(ref="acct_0009"), host=HOST, link_id="x")
    assert service.signer_of_website(website).secret == "from the environment"


@pytest.mark.parametrize(
    ("name", "value"), [("DASHBOARD_BASE_URL", "http://example.com"), ("DASHBOARD_TIMEOUT_SECONDS", 0)]
)
def test_invalid_settings_of_the_service_are_misconfigured(settings, name, value):
    setattr(settings, name, value)
    with pytest.raises(Misconfigured):
        service.configured_service()
