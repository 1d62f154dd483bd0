"""unverify_site: without a proof of ownership, nothing of a website reaches a customer."""

import pytest
from django.core.management.base import CommandError

from audit.models import AuditEvent
from dashboard_api.crawler.policy import NotScannable, check_scannable
from dashboard_api.models import Finding, SiteLink, Website
from tests.commands import run, run_json
from tests.dashboard_api.calls import ask, error_of, fields_for
from tests.factories import make_account, make_finding, make_link, make_website

pytestmark = pytest.mark.django_db
HOST = "shop.example.com"
REASON = ("--reason", "The domain was sold")


def test_a_verification_is_withdrawn_once_with_all_links_and_the_findings_stay(client):
    link = make_link()
    make_link(make_account("acct_0002"), link.website)
    make_finding(link.website)
    fields = run_json("unverify_site", "Shop.Example.com.", *REASON, "--by", "Ada")
    assert fields == {"host": HOST, "changed": True, "revoked_links": 2}
    website = Website.objects.get()
    assert (website.verified_at, website.verified_by, website.verification_method) == (None, "", "")
    response = ask(client, fields_for(link))
    assert (response.status_code, error_of(response)["code"]) == (403, "revoked_link")
    assert Finding.objects.exists()
    assert run_json("unverify_site", HOST, *REASON) == fields | {"changed": False, "revoked_links": 0}
    assert AuditEvent.objects.get(action="website.unverified").reason == "The domain was sold"


def test_a_website_without_a_proof_is_neither_linked_nor_scanned_until_it_is_verified_again():
    link = make_link()
    run("unverify_site", HOST, *REASON)
    again = ("restore_link", link.link_id, "--reason", "They asked")
    for command in (again, ("link_site", "acct_0001", HOST)):
        with pytest.raises(CommandError, match="is not verified yet: verify its ownership first"):
            run(*command)
    with pytest.raises(NotScannable):
        check_scannable(Website.objects.get())
    run("verify_site", HOST, "--by", "Ada")
    run(*again)
    assert SiteLink.objects.not_revoked().get() == link


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["blog.example.com", *REASON], "There is no website blog.example.com"),
        ([HOST], "required: --reason"),
        ([HOST, "--reason", " "], "Say who withdraws the verification, and why."),
        ([HOST, "--reason", "x" * 501], "at most 500 characters"),
    ],
)
def test_nothing_is_withdrawn_without_a_website_and_a_reason(arguments, refusal):
    make_link(website=make_website())
    with pytest.raises(CommandError, match=refusal):
        run("unverify_site", *arguments)
    assert Website.objects.get().verified_at
    assert SiteLink.objects.not_revoked().exists()
