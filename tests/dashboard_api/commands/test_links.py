"""verify_site, link_site, revoke_link and restore_link: a website's way to an account, from the shell."""

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from dashboard_api.models import SiteLink, Website
from tests.commands import run, run_json
from tests.factories import make_account, make_finding, make_link, make_website

pytestmark = pytest.mark.django_db


def test_website_is_made_and_verified():
    answer = run_json("verify_site", "Shop.Example.com.", "--by", "Ada", "--method", "dns")
    website = Website.objects.get()
    assert (website.host, website.verified_by, website.verification_method) == (
        "shop.example.com",
        "Ada",
        "dns",
    )
    assert answer["host"] == "shop.example.com"
    assert (answer["created"], answer["changed"]) == (True, True)
    assert (answer["verified_by"], answer["method"]) == ("Ada", "dns")


def test_known_website_is_verified():
    make_website(verified=False)
    assert "by hand, by Ada" in run("verify_site", "shop.example.com", "--by", "Ada")
    assert Website.objects.get().verified_by == "Ada"


def test_verified_website_stays_as_it_was_verified():
    run("verify_site", "shop.example.com", "--by", "Ada", "--method", "dns")
    before = Website.objects.values().get()
    assert "Nothing changed." in run("verify_site", "shop.example.com", "--by", "Grace")
    assert run_json("verify_site", "shop.example.com", "--by", "Grace")["changed"] is False
    assert Website.objects.values().get() == before


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (
            ["https://shop.example.com", "--by", "Ada"],
            "https://shop.example.com: the host must be a domain name",
        ),
        (["localhost", "--by", "Ada"], "public domain name"),
        (["github.io", "--by", "Ada"], "Anyone can register a name below github.io"),
        (["shop.example.com", "--by", ""], "verified_by: Say who verified the website."),
        (["shop.example.com", "--by", "x" * 151], "--by: a name has at most 150 characters"),
        (["shop.example.com"], "required: --by"),
        (["shop.example.com", "--by", "Ada", "--method", "rumour"], "invalid choice: 'rumour'"),
    ],
)
def test_website_is_not_made_when_its_verification_is_refused(arguments, refusal):
    with pytest.raises(CommandError, match=refusal):
        run("verify_site", *arguments)
    assert not Website.objects.exists()


def test_website_is_linked_and_the_link_id_printed():
    make_account()
    make_website()
    output = run("link_site", "acct_0001", "Shop.Example.com", "--by", "Ada")
    link = SiteLink.objects.get()
    assert output == f"Linked shop.example.com to acct_0001; the link id is {link.link_id}\n"
    assert link.events.get().by == "Ada"


def test_linked_website_is_printed_as_json():
    make_account()
    make_website()
    answer = run_json("link_site", "acct_0001", "shop.example.com")
    link_id = SiteLink.objects.get().link_id
    assert answer == {
        "changed": True,
        "account": "acct_0001",
        "host": "shop.example.com",
        "link_id": link_id,
    }


@pytest.mark.parametrize(
    ("ref", "host", "refusal"),
    [
        ("acct_0001", "blog.example.com", "first run 'manage.py verify_site blog.example.com --by NAME'"),
        ("acct_9999", "shop.example.com", "first run 'manage.py create_account acct_9999'"),
        ("acct_0001", "new.example.com", "new.example.com is not verified yet"),
        ("acct_0001", "not a host", "must be a domain name"),
    ],
)
def test_link_is_refused_with_what_to_do(ref, host, refusal):
    make_account()
    make_website()
    make_website("new.example.com", verified=False)
    with pytest.raises(CommandError, match=refusal):
        run("link_site", ref, host)
    assert not SiteLink.objects.exists()


def test_second_link_to_a_revoked_one_is_refused_with_its_id():
    link = make_link(revoked_at=timezone.now())
    with pytest.raises(CommandError, match=f"{link.link_id}: restore that link instead"):
        run("link_site", "acct_0001", "shop.example.com")


def test_link_is_revoked_and_restored_with_reasons():
    link = make_link()
    output = run("revoke_link", link.link_id.upper(), "--reason", "Contract ended", "--by", "Ada")
    assert output == "Revoked shop.example.com for acct_0001: its calls are refused from now on.\n"
    answer = run_json("restore_link", link.link_id, "--reason", "Contract renewed")
    assert answer == {
        "changed": True,
        "account": "acct_0001",
        "host": "shop.example.com",
        "link_id": link.link_id,
        "revoked_at": None,
    }
    events = [(event.action, event.by, event.reason) for event in link.events.all()]
    assert events[:2] == [
        ("restored", "command line", "Contract renewed"),
        ("revoked", "Ada", "Contract ended"),
    ]


def test_revoked_link_is_printed_as_json_with_its_time():
    link = make_link()
    answer = run_json("revoke_link", link.link_id, "--reason", "Contract ended")
    link.refresh_from_db()
    assert answer["revoked_at"][:19] == link.revoked_at.isoformat()[:19]


@pytest.mark.parametrize(
    ("command", "arguments", "refusal"),
    [
        ("revoke_link", [], "required: --reason"),
        ("revoke_link", ["--reason", " "], "reason: Say why."),
    ],
)
def test_link_stays_as_it_was_when_refused(command, arguments, refusal):
    link = make_link()
    with pytest.raises(CommandError, match=refusal):
        run(command, link.link_id, *arguments)
    assert SiteLink.objects.not_revoked().get() == link


@pytest.mark.parametrize("command", ["revoke_link", "restore_link"])
def test_unknown_link_is_refused(command):
    with pytest.raises(CommandError, match="There is no link 1234"):
        run(command, "1234", "--reason", "Contract ended")


@pytest.fixture
def former():
    """The revoked link of acct_0001 to a website with a finding."""
    link = make_link()
    make_finding(link.website)
    link.revoke(by="Ada", reason="The domain was sold", now=timezone.now())
    return link


def test_a_link_that_would_show_what_was_found_for_another_account_is_made_only_if_staff_say_so(former):
    make_account("acct_0002")
    with pytest.raises(CommandError, match=r"acct_0001 had shop\.example\.com before: .* add --new-owner"):
        run("link_site", "acct_0002", "shop.example.com")
    assert not SiteLink.objects.not_revoked().exists()
    run("link_site", "acct_0002", "shop.example.com", "--keep-findings")
    assert SiteLink.objects.not_revoked().get().website == former.website


def test_a_new_owner_begins_without_what_was_found_for_the_former_one(former):
    make_account("acct_0002")
    run("link_site", "acct_0002", "shop.example.com", "--new-owner", "--by", "Grace")
    website = SiteLink.objects.not_revoked().get().website
    assert (website.host, website.verified_by, website.findings.count()) == ("shop.example.com", "Grace", 0)
    former.website.refresh_from_db()
    assert former.website.findings.count() == 1
    assert former.website.retired_at


def test_a_link_is_not_restored_by_accident_when_another_account_had_the_website_since_then(former):
    later = make_link(make_account("acct_0002"), former.website)
    later.revoke(by="Ada", reason="Sold back", now=timezone.now())
    with pytest.raises(CommandError, match=r"acct_0002 had shop\.example\.com in the meantime"):
        run("restore_link", former.link_id, "--reason", "Sold back")
    run("link_site", "acct_0001", "shop.example.com", "--new-owner")
    assert SiteLink.objects.not_revoked().get().website.findings.count() == 0
    with pytest.raises(CommandError, match="archived"):
        run("restore_link", former.link_id, "--reason", "Sold back", "--keep-findings")


def test_a_website_of_another_account_is_linked_only_if_staff_say_that_they_share_it(former):
    run("restore_link", former.link_id, "--reason", "Not sold")
    make_account("acct_0002")
    with pytest.raises(CommandError, match=r"also linked to acct_0001.* see the same findings.* --shared"):
        run("link_site", "acct_0002", "shop.example.com")
    assert SiteLink.objects.not_revoked().get() == former
    run("link_site", "acct_0002", "shop.example.com", "--shared")
    assert SiteLink.objects.not_revoked().filter(website=former.website).count() == 2
    assert "Nothing to do" in run("link_site", "acct_0002", "shop.example.com")


def test_a_link_to_a_website_of_another_account_is_restored_only_if_staff_say_that_they_share_it(former):
    make_link(make_account("acct_0002", name="Example Agency"), former.website)
    restore = ("restore_link", former.link_id, "--reason", "They came back")
    with pytest.raises(CommandError, match=r"also linked to acct_0002 \(Example Agency\).* add --shared"):
        run(*restore)
    with pytest.raises(CommandError, match="--shared"):
        run(*restore, "--keep-findings")
    assert former not in SiteLink.objects.not_revoked()
    run(*restore, "--shared")
    assert former in SiteLink.objects.not_revoked()
    assert "Nothing to do" in run(*restore)
