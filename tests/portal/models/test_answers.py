"""Stored answers of the service: sealed, few, and for a day."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.models import LastAnswer
from portal.models.answers import MAX_PER_WEBSITE
from signed_api.findings import DashboardRequest
from tests.factories import make_portal_website

pytestmark = pytest.mark.django_db

REQUEST = DashboardRequest()
BODY = '{"title": "SQL injection in café"}'.encode()


@pytest.fixture
def website():
    return make_portal_website()


def age(hours):
    LastAnswer.objects.update(received_at=timezone.now() - timedelta(hours=hours))


def test_an_answer_is_stored_sealed_and_read_for_the_same_request_only(website):
    LastAnswer.objects.store(website, REQUEST, BODY)
    assert LastAnswer.objects.read(website, REQUEST).body == BODY
    assert "injection" not in LastAnswer.objects.get().sealed
    assert LastAnswer.objects.read(website, DashboardRequest(severity="High")) is None
    website.link_id = "00000000-0000-4000-8000-000000000001"
    assert LastAnswer.objects.read(website, REQUEST) is None


def test_an_answer_of_yesterday_is_neither_shown_nor_stored_for_long(website):
    LastAnswer.objects.store(website, REQUEST, BODY)
    age(hours=23)
    assert LastAnswer.objects.read(website, REQUEST)
    age(hours=24)
    assert LastAnswer.objects.read(website, REQUEST) is None
    LastAnswer.objects.store(website, DashboardRequest(page=2), BODY)
    assert LastAnswer.objects.count() == 1


def test_an_answer_is_replaced_once_a_minute(website):
    for body in (BODY, b"{}"):
        LastAnswer.objects.store(website, REQUEST, body)
    assert LastAnswer.objects.read(website, REQUEST).body == BODY
    age(hours=1)
    LastAnswer.objects.store(website, REQUEST, b"{}")
    assert LastAnswer.objects.read(website, REQUEST).body == b"{}"


def test_a_website_has_few_answers_the_newest(website):
    for page in range(1, MAX_PER_WEBSITE + 3):
        LastAnswer.objects.store(website, DashboardRequest(page=page), BODY)
    assert LastAnswer.objects.count() == MAX_PER_WEBSITE
    assert LastAnswer.objects.read(website, DashboardRequest(page=1)) is None
    assert LastAnswer.objects.read(website, DashboardRequest(page=MAX_PER_WEBSITE + 2))


def test_an_answer_without_its_master_key_counts_as_none(website, settings):
    LastAnswer.objects.store(website, REQUEST, BODY)
    settings.MASTER_KEYS = ["YW5vdGhlci1rZXktZm9yLXRlc3RzLTAxMjM0NTY3ODk="]
    assert LastAnswer.objects.read(website, REQUEST) is None


def test_the_answers_are_deleted_with_the_website_or_its_link(website, django_capture_on_commit_callbacks):
    for change in (website.save, website.delete):
        LastAnswer.objects.store(website, REQUEST, BODY)
        with django_capture_on_commit_callbacks(execute=True):
            change()
        assert not LastAnswer.objects.exists()
