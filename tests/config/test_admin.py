"""The admin's page of people."""

import pytest

from tests.config.test_sessions import PAGE, SAFARI, sign_in
from tests.factories import make_user

pytestmark = pytest.mark.django_db
LIST = "/admin/auth/user/"


def test_an_operator_sees_how_often_a_person_is_signed_in_and_ends_all_of_it():
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    person = make_user()
    here, there, theirs = sign_in(person), sign_in(person, SAFARI), sign_in(make_user("stranger"))
    page = operator.get(f"{LIST}{person.pk}/change/").text
    assert '<div class="readonly">2</div>' in page
    action = {"action": "end_sessions", "_selected_action": str(person.pk)}
    assert "2 sessions were ended." in operator.post(LIST, action, follow=True).text
    assert [client.get(PAGE).status_code for client in (here, there, theirs)] == [302, 302, 200]
