import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from portal.models import Account, Membership, Website
from portal.models.accounts import validate_secret
from tests.factories import (
    SECRET,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_user,
)

pytestmark = pytest.mark.django_db


def test_account_stores_its_secret_sealed():
    make_portal_account(secret=SECRET)
    account = Account.objects.get()
    assert SECRET not in account.sealed_secret
    assert account.reveal_secret() == SECRET


def test_account_shows_its_secret_nowhere():
    account = make_portal_account(secret=SECRET, name="Shop Ltd")
    assert SECRET not in f"{account} {account!r} {vars(account)}"


def test_account_of_the_environment_reveals_the_secret_of_the_environment(settings):
    settings.PORTAL_ACCOUNT_REF, settings.SITE_API_SECRET = "acct_0001", "from the environment"
    assert make_portal_account("acct_0001").reveal_secret() == "from the environment"
    assert make_portal_account("acct_0002").reveal_secret() == SECRET


def test_account_without_a_reference_is_not_the_environments_when_nothing_is_set():
    assert not Account(ref="").is_from_environment


@pytest.mark.parametrize("secret", ["0123456789abcdef", "with spaces inside it", "ü" * 16, "x" * 512])
def test_secret_may_be_any_printable_text(secret):
    account = Account(ref="acct_0001")
    account.set_secret(secret)
    assert account.reveal_secret() == secret


@pytest.mark.parametrize(
    "secret", ["", "x" * 15, "x" * 513, " 0123456789abcdef", "0123456789abcdef\n", "0123456789\x00abcdef"]
)
def test_invalid_secret_is_refused_without_showing_it(secret):
    account = Account(ref="acct_0001")
    with pytest.raises(ValidationError) as caught:
        account.set_secret(secret)
    assert not account.sealed_secret
    assert not secret or secret not in str(caught.value)


def test_secret_of_the_tests_is_one():
    validate_secret(SECRET)


@pytest.mark.parametrize("ref", ["", "with space", "ümlaut", "new\nline", "x" * 129])
def test_invalid_account_reference_is_refused(ref):
    with pytest.raises(ValidationError):
        Account(ref=ref).clean_fields(exclude={"sealed_secret"})


@pytest.mark.parametrize("link_id", ["", "rubbish", "{6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e}"])
def test_website_needs_a_link_id_of_the_shape_of_one(link_id):
    with pytest.raises(ValidationError, match="link_id"):
        Website(account=make_portal_account(), host="shop.example.com", link_id=link_id).full_clean()


def test_website_is_visible_to_members_of_its_account_alone():
    owner, stranger = make_user("owner"), make_user("stranger")
    website = make_portal_website(make_portal_account("acct_0001"), host="one.example.com")
    make_membership(owner, website.account)
    other = make_portal_website(make_portal_account("acct_0002"), host="two.example.com")
    make_membership(stranger, other.account)
    assert list(Website.objects.visible_to(owner)) == [website]
    assert list(Website.objects.visible_to(stranger)) == [other]


def test_no_website_is_visible_to_a_visitor():
    make_portal_website()
    assert not Website.objects.visible_to(AnonymousUser()).exists()
    assert not Membership.objects.of_user(AnonymousUser()).exists()


def test_website_is_unique_in_an_account_but_may_be_in_two():
    website = make_portal_website()
    make_portal_website(make_portal_account("acct_0002"), host=website.host)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_portal_website(website.account, host=website.host)


def test_membership_is_one_per_person_and_account():
    owner, account = make_user(), make_portal_account()
    make_membership(owner, account)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_membership(owner, account, role="viewer")


def test_membership_begins_as_a_viewer():
    membership = Membership.objects.create(user=make_user(), account=make_portal_account())
    assert membership.role == Membership.Role.VIEWER
    assert str(membership) == "owner in acct_0001: Viewer"
