"""Where members choose what they hear, as a browser and a mail program get it."""

import pytest
from django.test import Client
from django.urls import reverse

from portal.models import Subscription
from portal.models.notifications import hears_of
from portal.notifications.emails import stop_token
from tests.factories import make_membership, make_portal_account, make_user

pytestmark = pytest.mark.django_db
PAGE = "/news/"
CHOICE = {"floor": "Medium", "rhythm": "daily"}


@pytest.fixture
def browser():
    def browser(membership):
        client = Client()
        client.force_login(membership.user)
        return client

    return browser


def address(membership):
    return reverse("portal:choose_news", args=[membership.pk])


def stop(membership):
    return reverse("portal:stop_news", args=[stop_token(membership.pk)])


def chosen(membership):
    stored = Subscription.objects.get(membership=membership)
    return stored.floor, stored.rhythm, stored.language


def test_the_page_shows_what_is_usual_until_somebody_chooses(browser, owner, viewer):
    assert b'<option value="at_once" selected>' in browser(owner).get(PAGE).content
    assert b'<option value="never" selected>' in browser(viewer).get(PAGE).content
    assert Subscription.objects.count() == 0


def test_a_choice_is_kept_in_the_language_in_which_it_was_made(browser, owner):
    response = browser(owner).post(address(owner), CHOICE, headers={"accept-language": "de"}, follow=True)
    assert chosen(owner) == ("Medium", "daily", "de")
    assert response.redirect_chain == [(PAGE, 302)]
    browser(owner).post(address(owner), CHOICE | {"floor": "Critical"})
    assert chosen(owner) == ("Critical", "daily", "en")


@pytest.mark.parametrize("fields", [{"floor": "Dreadful"}, {"rhythm": "hourly"}, {"floor": ""}])
def test_what_cannot_be_chosen_is_refused(browser, owner, fields):
    assert browser(owner).post(address(owner), CHOICE | fields).status_code == 400
    assert Subscription.objects.count() == 0


def test_nobody_chooses_for_others(browser, owner, viewer):
    stranger = make_membership(make_user("stranger"), make_portal_account("acct_0002"))
    for membership in (viewer, stranger):
        assert browser(owner).post(address(membership), CHOICE).status_code == 404
    assert Client().post(address(owner), CHOICE).status_code == 302
    assert Subscription.objects.count() == 0


def test_choosing_needs_a_form_of_ours(owner):
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner.user)
    assert client.post(address(owner), CHOICE).status_code == 403


def test_the_page_says_where_the_emails_go_or_why_none_do(browser, owner, settings):
    assert b"owner@example.com, in the language" in browser(owner).get(PAGE).content
    owner.user.email = ""
    owner.user.save()
    assert b"We have no e-mail address of yours" in browser(owner).get(PAGE).content
    settings.EMAIL_URL = ""
    assert b"sends no e-mail at the moment" in browser(owner).get(PAGE).content


def test_ones_own_page_leads_there(browser, owner):
    assert b'href="/news/"' in browser(owner).get(reverse("account")).content
    assert b'href="/news/"' not in browser_of_nobody().get(reverse("account")).content


def browser_of_nobody():
    client = Client()
    client.force_login(make_user("member-of-nothing"))
    return client


# The link in each e-mail


def test_looking_at_the_link_changes_nothing(owner):
    page = Client().get(stop(owner))
    assert (page.status_code, Subscription.objects.count()) == (200, 0)
    assert b'<form method="post">' in page.content


def test_a_mail_program_ends_the_emails_with_one_click(owner):
    client = Client(enforce_csrf_checks=True)
    assert client.post(stop(owner), {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert chosen(owner) == ("High", "never", "")
    assert b"no more of these" in client.get(stop(owner)).content


def test_ending_keeps_the_rest_of_the_choice(browser, owner):
    browser(owner).post(address(owner), CHOICE, headers={"accept-language": "de"})
    Client().post(stop(owner))
    assert chosen(owner) == ("Medium", "never", "de")


def test_the_link_of_who_has_left_says_that_nothing_comes(owner):
    link = stop(owner)
    owner.delete()
    assert b"no more of these" in Client().post(link).content


@pytest.mark.parametrize("token", ["1", "1:x", "1:1:1"])
def test_a_link_that_nobody_gave_leads_nowhere(owner, token):
    assert Client().post(reverse("portal:stop_news", args=[token])).status_code == 404
    assert Subscription.objects.count() == 0


# Who is written to


def test_a_member_whose_e_mails_are_on_is_written_to(owner, viewer, website, subscribe, settings):
    assert hears_of(owner.user, website)
    assert not hears_of(viewer.user, website)
    assert not hears_of(make_user("stranger"), website)
    subscribe(owner, rhythm=Subscription.Rhythm.NEVER)
    subscribe(viewer)
    assert not hears_of(owner.user, website)
    assert hears_of(viewer.user, website)
    settings.EMAIL_URL = ""
    assert not hears_of(viewer.user, website)
