"""The day of a person's visit before this one."""

from datetime import timedelta

import pytest

from portal.models import DayOfVisit
from portal.models.visits import record_dashboard_visit
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_the_first_visit_has_none_before_and_later_pages_of_a_day_are_one_visit():
    person = make_user("owner")
    assert [record_dashboard_visit(person.pk) for _ in range(2)] == [None, None]
    visit = DayOfVisit.objects.get()
    earlier = visit.day - timedelta(days=3)
    DayOfVisit.objects.update(day=earlier, before=None)
    assert [record_dashboard_visit(person.pk) for _ in range(2)] == [earlier, earlier]


def test_a_deleted_person_leaves_no_visit():
    person = make_user("owner")
    record_dashboard_visit(person.pk)
    person.delete()
    assert not DayOfVisit.objects.exists()
