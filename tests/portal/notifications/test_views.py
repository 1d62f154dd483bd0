"""Pages about e-mails, as a browser and a mail program get them."""

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import AuditEvent
from portal.models import Membership, Subscription
from portal.models.notifications import gets_emails
from portal.notifications.emails import unsubscribe_token
from portal.team.actions import remove
from tests.factories import make_membership, make_portal_account, make_user
from tests.racing import race

pytestmark = pytest.mark.django_db
PAGE = "/notifications/"
CHOICE = {"min_severity": "Medium", "frequency": "daily"}


@pytest.fixture
def browser():
    def browser(membership):
        client = Client()
        client.force_login(membership.user)
        return client

    return browser


def subscribe_url(membership):
    return reverse("portal:subscribe", args=[membership.pk])


def unsubscribe_url(membership):
    return reverse("portal:unsubscribe", args=[unsubscribe_token(membership.pk)])


def subscription_of(membership):
    stored = Subscription.objects.get(membership=membership)
    return stored.min_severity, stored.frequency, stored.language


def test_the_page_shows_the_defaults_without_a_choice(browser, owner, viewer):
    assert b'<option value="immediate" selected>' in browser(owner).get(PAGE).content
    assert b'<option value="never" selected>' in browser(viewer).get(PAGE).content
    assert Subscription.objects.count() == 0


def test_a_choice_is_stored_with_the_language_of_the_page(browser, owner):
    response = browser(owner).post(
        subscribe_url(owner), CHOICE, headers={"accept-language": "de"}, follow=True
    )
    assert subscription_of(owner) == ("Medium", "daily", "de")
    assert response.redirect_chain == [(PAGE, 302)]
    browser(owner).post(subscribe_url(owner), CHOICE | {"min_severity": "Critical"})
    assert subscription_of(owner) == ("Critical", "daily", "en")


@pytest.mark.parametrize(("url", "status"), [(subscribe_url, 404), (unsubscribe_url, 200)])
def test_who_is_removed_at_the_same_moment_chooses_nothing(browser, owner, monkeypatch, url, status):
    of = Subscription.of

    def of_removed(membership):
        subscription = of(membership)
        Membership.objects.filter(pk=membership.pk).delete()
        return subscription

    monkeypatch.setattr(Subscription, "of", of_removed)
    assert browser(owner).post(url(owner), CHOICE).status_code == status
    assert not Subscription.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_member_can_be_removed_who_saves_a_choice_at_the_same_moment(browser, owner, viewer):
    saving, url = browser(viewer), subscribe_url(viewer)  # a membership that is deleted has no number

    def act(number):
        if number:
            return saving.post(url, CHOICE).status_code
        return remove(viewer, by=owner.user)

    removed, *answers = race(act, times=5)
    assert removed is None
    assert set(answers) <= {302, 404}
    assert not Subscription.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("url", "status"), [(subscribe_url, 302), (unsubscribe_url, 200)])
def test_the_first_choice_may_be_sent_many_times_at_once(browser, owner, url, status):
    browsers = [browser(owner) for _ in range(8)]
    assert set(race(lambda number: browsers[number].post(url(owner), CHOICE).status_code)) == {status}
    assert Subscription.objects.count() == 1


@pytest.mark.parametrize(
    "fields", [{"min_severity": "Dreadful"}, {"frequency": "hourly"}, {"min_severity": ""}]
)
def test_an_invalid_choice_is_refused(browser, owner, fields):
    assert browser(owner).post(subscribe_url(owner), CHOICE | fields).status_code == 400
    assert Subscription.objects.count() == 0


def test_a_member_cannot_choose_for_others(browser, owner, viewer):
    stranger = make_membership(make_user("stranger"), make_portal_account("acct_0002"))
    for membership in (viewer, stranger):
        assert browser(owner).post(subscribe_url(membership), CHOICE).status_code == 404
    assert Client().post(subscribe_url(owner), CHOICE).status_code == 302
    assert Subscription.objects.count() == 0


def test_the_page_says_where_the_emails_go_or_why_none_do(browser, owner, settings):
    assert b"owner@example.com, in the language of this page" in browser(owner).get(PAGE).content
    owner.user.email = ""
    owner.user.save()
    assert b"We do not have your e-mail address" in browser(owner).get(PAGE).content
    settings.EMAIL_URL = ""
    assert b"cannot send e-mails at the moment" in browser(owner).get(PAGE).content


def test_the_account_page_links_to_the_settings(browser, owner):
    assert b'href="/notifications/"' in browser(owner).get(reverse("account")).content
    assert b'href="/notifications/"' not in browser_without_account().get(reverse("account")).content


def browser_without_account():
    client = Client()
    client.force_login(make_user("newcomer"))
    return client


# The unsubscribe link


def test_get_of_the_unsubscribe_link_changes_nothing(owner):
    page = Client().get(unsubscribe_url(owner))
    assert (page.status_code, Subscription.objects.count()) == (200, 0)
    assert b'<form method="post">' in page.content


def test_a_mail_program_unsubscribes_with_one_click(owner):
    client = Client(enforce_csrf_checks=True)
    assert client.post(unsubscribe_url(owner), {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert subscription_of(owner) == ("High", "never", "")
    assert b"unsubscribed" in client.get(unsubscribe_url(owner)).content


def test_who_unsubscribes_again_writes_nothing_into_the_activity(owner):
    for _ in range(3):
        assert b"unsubscribed" in Client().post(unsubscribe_url(owner)).content
    assert AuditEvent.objects.filter(action="subscription.ended").count() == 1


def test_unsubscribing_keeps_the_rest_of_the_choice(browser, owner):
    browser(owner).post(subscribe_url(owner), CHOICE, headers={"accept-language": "de"})
    Client().post(unsubscribe_url(owner))
    assert subscription_of(owner) == ("Medium", "never", "de")


def test_a_member_who_never_chose_can_unsubscribe_from_messages(viewer):
    assert not Subscription.of(viewer).is_refused
    page = Client().get(unsubscribe_url(viewer))
    assert b"messages and answers" in page.content
    Client().post(unsubscribe_url(viewer))
    assert subscription_of(viewer)[1] == "never"
    viewer.refresh_from_db()
    assert not Subscription.of(viewer).gets_messages


def test_the_settings_name_messages_and_answers(client, viewer):
    client.force_login(viewer.user)
    assert "Messages and answers that concern you" in client.get("/notifications/").text


def test_the_link_of_a_former_member_says_unsubscribed(owner):
    link = unsubscribe_url(owner)
    owner.delete()
    assert b"unsubscribed" in Client().post(link).content


@pytest.mark.parametrize("token", ["1", "1:x", "1:1:1"])
def test_a_link_with_a_forged_token_is_not_found(owner, token):
    assert Client().post(reverse("portal:unsubscribe", args=[token])).status_code == 404
    assert Subscription.objects.count() == 0


# Members with e-mails


def test_a_member_with_an_active_subscription_gets_emails(owner, viewer, website, subscribe, settings):
    assert gets_emails(owner.user, website)
    assert not gets_emails(viewer.user, website)
    assert not gets_emails(make_user("stranger"), website)
    subscribe(owner, frequency=Subscription.Frequency.NEVER)
    subscribe(viewer)
    assert not gets_emails(owner.user, website)
    assert gets_emails(viewer.user, website)
    settings.EMAIL_URL = ""
    assert not gets_emails(viewer.user, website)


# Former paths, which e-mails and bookmarks have


@pytest.mark.parametrize(
    ("former", "current"),
    [
        ("/news/", "/notifications/"),
        ("/members/", "/team/"),
        ("/sites/shop.example.com/news/", "/sites/shop.example.com/new/"),
        (
            "/sites/shop.example.com/news/?since=1.2.3.&floor=High&account=acct_0001",
            "/sites/shop.example.com/new/?since=1.2.3.&account=acct_0001&min_severity=High",
        ),
        ("/news/stop/1:x/", "/notifications/unsubscribe/1:x/"),
    ],
)
def test_former_path_is_redirected_for_ever(former, current):
    response = Client().get(former)
    assert (response.status_code, response["Location"]) == (301, current)


def test_one_click_of_a_former_email_unsubscribes(owner):
    client = Client(enforce_csrf_checks=True)
    former = f"/news/stop/{unsubscribe_token(owner.pk)}/"
    assert client.post(former, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert subscription_of(owner) == ("High", "never", "")
