"""Staff see a website as its customer does: with a permission, read-only, recorded, and nothing else."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.utils import timezone

from audit.models import AuditEvent
from foundation.texts.people import reference_of
from portal.answers import service
from portal.models import Account, Website, WebsiteSummary
from signed_api.answering import AnswerRequest
from signed_api.errors import TimedOut
from tests.factories import (
    make_account,
    make_finding,
    make_link,
    make_membership,
    make_note,
    make_portal_account,
    make_portal_website,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db(transaction=True)
URL = "/admin/see-as/shop.example.com/"


@pytest.fixture
def websites():
    """Return the links of two accounts to one website; each has a note of its own."""
    links = [make_link(make_account("acct_0001"))]
    links.append(make_link(make_account("acct_0002"), links[0].website))
    for link in links:
        make_note(link.website, account=link.account, body=f"Only for {link.account.ref}.")
        make_portal_website(make_portal_account(link.account.ref), link_id=link.link_id)
    make_finding(links[0].website, title="Outdated library", remediation="Update it.")
    return links


@pytest.fixture
def support(client, settings):
    settings.DASHBOARD_BASE_URL = ""
    user = make_user("grace", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="see_as_customer"))
    client.force_login(user)
    return client


@pytest.mark.parametrize(("ref", "other"), [("acct_0001", "acct_0002"), ("acct_0002", "acct_0001")])
def test_staff_see_the_findings_and_notes_of_this_account_alone(support, websites, ref, other):
    page = support.get(URL, {"account": ref}).content.decode()
    assert "Outdated library" in page
    assert f"Only for {ref}." in page
    assert f"Only for {other}." not in page
    assert f"as {ref} sees it" in page


def test_a_finding_and_the_filters_stay_below_the_page(support, websites):
    page = support.get(URL, {"account": "acct_0001"}).content.decode()
    finding = websites[0].website.findings.get()
    address = f"{URL}findings/{finding.pk}/"
    assert address in page
    assert 'href="/sites/' not in page
    shown = support.get(address, {"account": "acct_0001"})
    assert "Update it." in shown.content.decode()
    assert "as acct_0001 sees it" in shown.content.decode()


def test_the_page_has_no_form_of_a_member(support, websites):
    finding = websites[0].website.findings.get()
    for path in ("", f"findings/{finding.pk}/"):
        page = support.get(URL + path, {"account": "acct_0001"}).content.decode()
        main = page[page.index("<main") : page.index("</main>")]
        assert "<form" not in main
        assert support.post(URL + path, {"account": "acct_0001"}).status_code == 405
    filtered = support.get(URL, {"account": "acct_0001", "severity": "Medium"}).content.decode()
    assert "Save this view" not in filtered
    assert support.post("/sites/shop.example.com/views/?severity=Medium", {"name": "Mine"}).status_code == 404


def test_the_pages_call_no_route_that_changes_something(support, websites, monkeypatch):
    called = []

    def note(_service, _account, route, _request):
        called.append(route)
        return call(_service, _account, route, _request)

    call = service.call
    monkeypatch.setattr(service, "call", note)
    finding = websites[0].website.findings.get()
    for path in ("", f"findings/{finding.pk}/"):
        assert support.get(URL + path, {"account": "acct_0001"}).status_code == 200
    assert len(called) >= 2
    assert not any(route.changes for route in called)


def test_answers_and_messages_are_shown_without_a_form(support, websites):
    finding, (own, other) = websites[0].website.findings.get(), websites
    member = make_membership(make_user("ada"), Account.objects.get(ref="acct_0001"))
    for account, words in ((own, "Ours alone."), (other, "Theirs alone.")):
        call = AnswerRequest(
            finding_ids=str(finding.pk), act="will_fix", reason=words, by=reference_of(member.user_id)
        )
        service.answer(Website.objects.get(account__ref=account.account.ref), call)
    shown = support.get(f"{URL}findings/{finding.pk}/", {"account": "acct_0001"}).content.decode()
    main = shown[shown.index("<main") : shown.index("</main>")]
    assert "Ours alone." in main
    assert "Theirs alone." not in main
    assert "<form" not in main


@pytest.mark.parametrize("path", ["", "findings/1/"])
def test_a_missing_proof_is_shown_without_the_link_to_it_that_only_members_have(
    support, settings, websites, path
):
    settings.LINK_URL = ""
    link, now = websites[0], timezone.now()
    link.account.ownership_claims.update(state="ended", ended_reason="lapsed", ended_at=now)
    link.revoke(by="tests", reason="The proof is missing.", now=now)
    response = support.get(URL + path, {"account": "acct_0001"})
    text = response.content.decode()
    assert (response.status_code, "The proof of ownership is missing" in text) == (403, True)
    assert "/websites/add/" not in text


def test_every_view_is_recorded_and_changes_nothing_else(support, websites):
    support.get(URL, {"account": "acct_0001"})
    support.get(f"{URL}findings/{websites[0].website.findings.get().pk}/", {"account": "acct_0001"})
    entries = LogEntry.objects.order_by("pk")
    assert [entry.user.username for entry in entries] == ["grace", "grace"]
    assert "Seen as acct_0001: the dashboard" in entries[0].change_message
    assert "finding" in entries[1].change_message
    assert not WebsiteSummary.objects.exists()


@pytest.mark.parametrize("path", ["", "findings/1/"])
def test_a_view_that_shows_nothing_or_that_another_website_causes_is_not_recorded(
    support, websites, path, monkeypatch
):
    elsewhere = support.get(URL + path, {"account": "acct_0001"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert (elsewhere.status_code, elsewhere["Location"]) == (302, "/admin/")

    def fail(*_, **__):
        raise TimedOut

    monkeypatch.setattr(service, "get_dashboard", fail)
    monkeypatch.setattr(service, "get_finding", fail)
    assert support.get(URL + path, {"account": "acct_0001"}).status_code == 504
    assert not LogEntry.objects.exists()
    assert not AuditEvent.objects.filter(action="website.seen_as_customer").exists()


@pytest.mark.parametrize("account", ["acct_0003", "", "ACCT_0001"])
@pytest.mark.parametrize("path", ["", "findings/1/"])
def test_another_account_or_website_is_not_found_and_not_recorded(support, websites, account, path):
    assert support.get(URL + path, {"account": account}).status_code == 404
    assert support.get(f"/admin/see-as/no.example.com/{path}", {"account": "acct_0001"}).status_code == 404
    assert not LogEntry.objects.exists()


def test_a_finding_of_another_website_is_not_found(support, websites):
    other = make_finding(make_website("other.example.org"), title="Of another website")
    response = support.get(f"{URL}findings/{other.pk}/", {"account": "acct_0001"})
    assert response.status_code == 404
    assert "Of another website" not in response.content.decode()


@pytest.mark.parametrize("path", ["", "findings/1/"])
@pytest.mark.parametrize(
    "codenames", [(), ("view_finding", "change_finding", "view_account", "view_website")]
)
def test_staff_without_the_permission_see_nothing(client, websites, path, codenames):
    user = make_user("eve", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client.force_login(user)
    for account in ("acct_0001", "acct_0003"):
        response = client.get(URL + path, {"account": account})
        assert response.status_code == 403
        assert "Outdated" not in response.content.decode()
    assert not LogEntry.objects.exists()


def test_members_and_visitors_are_led_to_the_sign_in(client, websites):
    assert client.get(URL, {"account": "acct_0001"}).status_code == 302
    owner = make_user()
    make_membership(owner, make_portal_website(make_portal_account("acct_0009"), "x.example.com").account)
    client.force_login(owner)
    assert client.get(URL, {"account": "acct_0001"}).status_code == 302
