"""The archive of websites: links end with it, and nothing reaches an archived website."""

from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from dashboard_api.models import SiteLink, Website
from dashboard_api.models.sites import AlreadyArchived, Archived, InUse, NotArchived
from tests.dashboard_api.searched import words_are_true
from tests.factories import (
    make_account,
    make_coverage,
    make_finding,
    make_import_run,
    make_link,
    make_note,
    make_website,
)
from tests.racing import race

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
WHY = {"by": "Ada", "reason": "Contract ended", "now": NOW}


def archive_of(website):
    website.refresh_from_db()
    return website.archived_at, website.archived_by, website.archive_reason


def test_an_archived_website_says_when_by_whom_and_why():
    website = make_website()
    website.archive(**WHY)
    assert archive_of(website) == (NOW, "Ada", "Contract ended")
    assert not Website.objects.filter(archived_at=None).exists()


def test_the_archive_revokes_every_active_link_with_the_same_reason():
    website = make_website()
    links = [make_link(make_account(f"acct_{number}"), website) for number in range(3)]
    links[0].revoke(by="Grace", reason="asked to", now=NOW)
    assert website.archive(**WHY) == 2
    assert not SiteLink.objects.not_revoked().exists()
    events = [link.events.order_by("-pk").values_list("action", "by", "reason")[0] for link in links]
    assert events == [("revoked", "Grace", "asked to"), *[("revoked", "Ada", "Contract ended")] * 2]


@pytest.mark.parametrize("fields", [{"by": " "}, {"reason": ""}, {"reason": "x" * 501}])
def test_nothing_is_archived_without_a_name_and_a_reason(fields):
    link = make_link()
    with pytest.raises(ValidationError):
        link.website.archive(**(WHY | fields))
    assert archive_of(link.website) == (None, "", "")
    assert SiteLink.objects.not_revoked().get() == link


def test_the_first_reason_stays():
    website = make_website()
    website.archive(**WHY)
    with pytest.raises(AlreadyArchived, match="on 2026-03-04"):
        website.archive(by="Grace", reason="Again", now=NOW)
    assert archive_of(website) == (NOW, "Ada", "Contract ended")


def test_the_database_refuses_half_an_archive():
    make_website()
    with pytest.raises(IntegrityError, match="dashboard_api_website_archive_is_whole"):
        Website.objects.update(archived_at=NOW)


def test_an_archived_website_is_neither_verified_nor_linked():
    website = make_website(verified=False)
    website.archive(**WHY)
    with pytest.raises(Archived, match="take it out of the archive in the admin first"):
        website.verify(method="dns", by="Ada", at=NOW)
    with pytest.raises(Archived, match="take it out of the archive in the admin first"):
        SiteLink.objects.link(make_account(), website, by="Ada")


def test_its_links_cannot_be_restored_and_stay_revoked_when_it_is_restored():
    link = make_link()
    link.website.archive(**WHY)
    with pytest.raises(Archived):
        link.restore(by="Ada", reason="Paid", now=NOW)
    link.website.restore()
    assert archive_of(link.website) == (None, "", "")
    assert not SiteLink.objects.not_revoked().exists()
    link.restore(by="Ada", reason="Paid", now=NOW)
    assert SiteLink.objects.not_revoked().get() == link


def test_only_an_archived_website_is_restored():
    with pytest.raises(NotArchived):
        make_website().restore()


def test_a_website_without_findings_is_deleted_with_its_history():
    link = make_link()
    website = link.website
    make_coverage(website)
    make_import_run(website)
    make_note(website)
    link.revoke(by="Ada", reason="mistyped", now=NOW)
    website.delete_unused()
    assert not Website.objects.exists()
    assert words_are_true()


def test_a_website_with_findings_of_any_status_is_never_deleted():
    website = make_website()
    make_finding(website, status="fixed", fixed_at=NOW)
    with pytest.raises(InUse, match="archive it instead"):
        website.delete_unused()
    assert Website.objects.get() == website


def test_a_website_with_an_active_link_is_not_deleted():
    link = make_link()
    with pytest.raises(InUse, match=f"linked to acct_0001: revoke this link .{link.link_id}. first"):
        link.website.delete_unused()
    assert SiteLink.objects.get() == link


@pytest.mark.django_db(transaction=True)
def test_a_website_archived_while_accounts_link_it_has_no_active_link():
    website = make_website()
    accounts = [make_account(f"acct_{number}", secrets=()) for number in range(5)]

    def act(number):
        if number == 2:
            return website.archive(**WHY)
        return SiteLink.objects.link(accounts[number], Website.objects.get(), by="Grace")

    race(act, times=5)
    assert Website.objects.get().archived_at == NOW
    assert not SiteLink.objects.not_revoked().exists()
