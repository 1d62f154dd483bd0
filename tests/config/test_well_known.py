"""security.txt: whom to write to about a security problem (RFC 9116)."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from dashboard_api.crawler.essentials.page import check_security_txt
from foundation.outbound.fetch import Fetched, Hop

pytestmark = pytest.mark.django_db
PATH = "/.well-known/security.txt"


def test_security_txt_has_contact_end_languages_and_its_address(client, settings):
    settings.SUPPORT_URL = "mailto:security@example.com"
    found = client.get(PATH)
    assert found["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in found.text.split("\r\n")[:-1])
    expires = datetime.fromisoformat(fields.pop("Expires"))
    assert timezone.now() + timedelta(days=30) < expires < timezone.now() + timedelta(days=365)
    assert fields == {
        "Canonical": f"http://testserver{PATH}",
        "Contact": "mailto:security@example.com",
        "Preferred-Languages": "en, de",
    }


def fetched(client):
    """Return the file as our scanner gets it."""
    response = client.get(PATH)
    hops = (Hop(url=f"https://testserver{PATH}"),)
    return Fetched(status=response.status_code, headers={}, body=response.content, is_whole=True, hops=hops)


def test_our_own_scanner_finds_no_problem_with_it(client, settings):
    settings.SUPPORT_URL = "https://example.com/support"
    assert list(check_security_txt(fetched(client), timezone.now())) == []
    settings.SUPPORT_URL = ""
    [problem] = check_security_txt(fetched(client), timezone.now())
    assert problem.rule == "security-txt-missing"


def test_without_a_contact_there_is_none_and_it_only_answers_reads(client, settings):
    settings.SUPPORT_URL = ""
    assert client.get(PATH).status_code == 404
    settings.SUPPORT_URL = "mailto:security@example.com"
    assert client.post(PATH).status_code == 405
