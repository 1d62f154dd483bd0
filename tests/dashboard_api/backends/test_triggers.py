"""Triggers change the revision of a website with its data, whatever writes."""

import pytest
from django.db import connection

from dashboard_api.backends import triggers
from dashboard_api.models import Revision
from tests.factories import make_finding, make_website

pytestmark = pytest.mark.django_db


def tag(website):
    return Revision.objects.filter(website_id=website.pk).values_list("tag", flat=True).first()


def test_every_way_to_write_changes_the_revision_of_the_website_alone():
    site, other = make_website(), make_website("other.example.com")
    make_finding(other)
    seen = {tag(site)}
    finding = make_finding(site)
    seen.add(tag(site))
    site.findings.update(title="Another")
    seen.add(tag(site))
    finding.delete()
    seen.add(tag(site))
    assert len(seen) == 4
    before = tag(other)
    make_finding(site)
    assert tag(other) == before


def test_triggers_that_say_what_is_wanted_are_left_alone(django_assert_num_queries):
    with django_assert_num_queries(3):  # a savepoint and a look
        triggers.install(connection)


def test_missing_triggers_are_created_and_change_every_revision():
    triggers.remove(connection)
    site = make_website()
    make_finding(site)
    assert tag(site) is None
    triggers.install(connection)
    assert Revision.objects.filter(website_id=0).exists()
    make_finding(site)
    assert tag(site) is not None
