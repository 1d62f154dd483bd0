"""Share links: what is stored, how they end, and how many there may be."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.models import ShareLink, ShareOpening, Website
from portal.models.sharing import hash_of_token
from portal.onboarding import claim_states
from portal.onboarding.actions import remove_unlinked
from portal.sharing import actions
from tests.factories import make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import make_claim
from tests.racing import race

pytestmark = pytest.mark.django_db


@pytest.fixture
def website():
    return make_portal_website()


@pytest.fixture
def person():
    return make_user("ada")


def share(website, person, **fields):
    days = fields.pop("days", 7)
    return actions.create(
        website, actions.Subject(**{"title": "SQL injection"} | fields), by=person, days=days
    )


def move_end(share_link, **fields):
    ShareLink.objects.filter(pk=share_link.pk).update(**fields)


def test_the_token_is_long_random_and_stored_as_a_hash_only(website, person):
    share_link, token = share(website, person)
    _, other_token = share(website, person)
    assert len(token) == 43
    assert token != other_token
    assert share_link.token_hash == hash_of_token(token)
    assert token not in str(ShareLink.objects.filter(pk=share_link.pk).values().get())
    assert actions.find(token) == share_link


@pytest.mark.parametrize("days", [7, 30])
def test_a_link_ends_after_the_chosen_days(website, person, days):
    share_link, token = share(website, person, days=days)
    assert share_link.expires_at - share_link.created_at == timedelta(days=days)
    move_end(share_link, expires_at=timezone.now())
    with pytest.raises(actions.NoLongerShared):
        actions.find(token)


def test_a_revoked_link_ends_at_once_and_only_once(website, person):
    share_link, token = share(website, person)
    assert actions.revoke(share_link)
    with pytest.raises(actions.NoLongerShared):
        actions.find(token)
    assert not actions.revoke(share_link)


@pytest.mark.parametrize("token", ["", "x", "a" * 43, "ü", "\ud800", "a" * 5_000])
def test_any_other_token_opens_nothing(website, person, token):
    share(website, person)
    with pytest.raises(actions.NoLongerShared):
        actions.find(token)


def test_a_link_ends_when_its_website_is_linked_again_or_deleted(website, person):
    _, token = share(website, person)
    website.link_id = "00000000-8f7e-4f57-9a3b-0d4a5b6c7d8e"
    website.save()
    with pytest.raises(actions.NoLongerShared):
        actions.find(token)
    website.delete()
    assert not ShareLink.objects.exists()


def test_an_account_has_a_limited_number_of_working_links(website, person, monkeypatch):
    monkeypatch.setattr(actions, "MAX_LIVE_SHARE_LINKS", 2)
    first, _ = share(website, person)
    share(website, person)
    with pytest.raises(actions.TooManyShareLinks):
        share(website, person)
    elsewhere = make_portal_website(make_portal_account("acct_0002"))
    share(elsewhere, person)  # each account has its own limit
    actions.revoke(first)
    share(website, person)


@pytest.mark.django_db(transaction=True)
def test_simultaneous_creations_stay_within_the_limit(website, person, monkeypatch):
    monkeypatch.setattr(actions, "MAX_LIVE_SHARE_LINKS", 3)

    def create(number):
        try:
            share(website, person)
        except actions.TooManyShareLinks:
            return "refused"
        return "created"

    assert sorted(race(create, times=6)) == ["created"] * 3 + ["refused"] * 3
    assert ShareLink.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_giving_a_website_up_goes_with_links_and_badges_that_are_made_at_the_same_moment(website, person):
    claim = make_claim(state="withdrawn")
    steps = (
        lambda: share(website, person),
        lambda: actions.switch_badge_on(website, by=person),
        lambda: claim_states.store(website.account, make_claim(state="failing")),
        lambda: remove_unlinked(website.account, claim, reason="Sold"),
    )

    def act(number):
        try:
            steps[number % 4]()
        except Website.DoesNotExist:
            return "no website"

    assert set(race(act, times=8)) <= {None, "no website"}
    assert not Website.objects.exists()


def test_the_last_opening_is_stored_once_a_minute(website, person):
    share_link, _ = share(website, person)
    now = timezone.now()
    ShareOpening.record(share_link.pk, at=now)
    ShareOpening.record(share_link.pk, at=now + timedelta(seconds=30))
    assert ShareOpening.objects.get(pk=share_link.pk).last_opened_at == now
    ShareOpening.record(share_link.pk, at=now + timedelta(seconds=90))
    assert ShareOpening.objects.get(pk=share_link.pk).last_opened_at == now + timedelta(seconds=90)


def test_ended_links_are_deleted_after_thirty_days_with_their_openings(website, person):
    now = timezone.now()
    long_ago, recently = now - timedelta(days=31), now - timedelta(days=29)
    kept = [share(website, person, title=title)[0] for title in ("works", "expired", "revoked")]
    gone = [share(website, person, title=title)[0] for title in ("expired", "revoked")]
    for link in (*kept, *gone):
        ShareOpening.record(link.pk, at=now)
    move_end(kept[1], expires_at=recently)
    move_end(kept[2], revoked_at=recently)
    move_end(gone[0], expires_at=long_ago)
    move_end(gone[1], revoked_at=long_ago)
    assert actions.delete_ended(now=now) == 2
    assert set(ShareLink.objects.all()) == set(kept)
    assert set(ShareOpening.objects.values_list("pk", flat=True)) == {link.pk for link in kept}
