"""A share link with the real service: what it shows, and that it shows nothing else."""

import html
import re
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from dashboard_api.answers import settling
from dashboard_api.answers.records import changed
from dashboard_api.models import Answer, ScanJob, Severity
from portal.models import Account, ShareLink
from tests.factories import (
    make_account,
    make_event,
    make_finding,
    make_link,
    make_membership,
    make_note,
    make_occurrence,
    make_portal_account,
    make_portal_website,
    make_source,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/sites/shop.example.com/"
CANARY = "canary"  # begins every word that no share link may show


@pytest.fixture(params=["http", "direct"])
def service(request, service, settings):
    """The service, called over HTTP and then in the same process."""
    if request.param == "direct":
        settings.DASHBOARD_BASE_URL = ""
    return service


def make_canary_finding(website, **fields):
    """Return a finding with a canary in each of its texts."""
    source = make_source("canaryscan", name="Canaryscan")
    texts = {name: f"canary {name}" for name in ("title", "description", "remediation", "evidence", "rule")}
    finding = make_finding(
        website,
        source=source,
        references=["https://canary.example.com/"],
        location="https://shop.example.com/canary",
        cve=["CVE-2024-77777"],
        **texts | fields,
    )
    make_occurrence(finding, "https://shop.example.com/canary/2", evidence="canary evidence")
    make_note(website, finding=finding, body="canary note")
    return finding


@pytest.fixture
def shared(link):
    """The finding that is shared; what is internal about it is a canary, too."""
    finding = make_finding(
        link.website,
        severity=Severity.CRITICAL,
        title="The shared finding",
        description="Its description.",
        remediation="Its remedy.",
        evidence="canary evidence of its own",
        references=["https://example.com/its-reference"],
        cwe=[79],
        cve=["CVE-2024-12321"],
    )
    make_occurrence(finding, "https://shop.example.com/its-location", evidence="canary evidence there")
    make_note(link.website, finding=finding, body="canary note about it")
    make_event(finding, "reconsidered", reason="canary reason", at=timezone.now())
    return finding


@pytest.fixture
def canaries(link, website, shared):
    """Fill everything around the shared finding with canaries: this account and another one."""
    for severity in Severity:
        make_canary_finding(link.website, severity=severity)
    make_note(link.website, body="canary note about the website")
    Account.objects.update(name="Canary Holding")
    make_website("canary-sibling.example.com")
    theirs = make_link(make_account("acct_canary"), link.website)
    other = make_portal_website(
        make_portal_account(theirs.account.ref, name="Canary Inc"), link.website.host, theirs.link_id
    )
    make_membership(make_user("canaryowner"), other.account)


def share(owner, path, **form):
    """Create a share link, and return its path."""
    page = owner.post(path, {"days": "7"} | form)
    assert page.status_code == 200
    return re.search(r"/s/[\w-]{43}/", page.content.decode())[0]


def every_byte(response):
    """Return status line, headers and body, with character references resolved."""
    headers = "\n".join(f"{name}: {value}" for name, value in response.headers.items())
    body = html.unescape(response.content.decode())
    return f"{response.status_code} {response.reason_phrase}\n{headers}\n{body}"


def responses(path):
    """Return what strangers can get at the address, in both languages, and with parameters."""
    for language in ("en", "de"):
        visitor = Client(headers={"accept-language": language})
        yield visitor.get(path)
        yield visitor.get(f"{path}?page=2&query=canary&status=all&account=acct_canary")
        yield visitor.head(path)
        yield visitor.post(path)
        yield visitor.get(path, headers={"HX-Request": "true", "HX-Target": "results"})
    yield Client().get(path.removesuffix("/"))


def test_a_link_to_a_finding_shows_nothing_of_another_finding_or_account(owner, canaries, shared):
    path = share(owner, f"{PATH}findings/{shared.pk}/share/")
    first = every_byte(Client().get(path))
    for text in (
        "The shared finding",
        "Its description.",
        "Its remedy.",
        "its-location",
        "CWE-79",
        "its-reference",
    ):
        assert text in first
    for response in responses(path):
        assert CANARY not in every_byte(response).lower()
        assert "CVE-2024-77777" not in every_byte(response)
        assert "acct_" not in every_byte(response)
        assert "owner" not in every_byte(response)


def test_a_link_to_a_list_shows_nothing_that_the_filters_leave_out(owner, canaries, shared):
    path = share(owner, f"{PATH}share/?severity=Critical&source={shared.source.slug}")
    assert "The shared finding" in every_byte(Client().get(path))
    assert "Its remedy." in every_byte(Client().get(path))
    for response in responses(path):
        assert CANARY not in every_byte(response).lower()
        assert "acct_" not in every_byte(response)
        assert "owner" not in every_byte(response)


@pytest.fixture
def shared_problem(link, shared):
    """The id of the shared finding's problem, which has a second finding with two locations."""
    sibling = make_finding(
        link.website,
        source=shared.source,
        severity=Severity.HIGH,
        title="The shared finding",
        location="https://shop.example.com/its-sibling",
        evidence="canary evidence of the sibling",
        rule=shared.rule,
        references=["https://example.com/its-reference"],
    )
    make_occurrence(sibling, "https://shop.example.com/its-further-location", evidence="canary evidence")
    make_note(link.website, finding=sibling, body="canary note about the sibling")
    for finding in (shared, sibling):
        finding.refresh_from_db()
        finding.locations_count = 2
        finding.save(update_fields=["locations_count"])
    assert sibling.problem == shared.problem
    return sibling.problem


def test_a_link_to_a_problem_shows_nothing_of_another_finding_or_account(owner, canaries, shared_problem):
    path = share(owner, f"{PATH}share/?problem={shared_problem}")
    first = every_byte(Client().get(path))
    for text in (
        "The shared finding",
        "Its description.",
        "Its remedy.",
        "its-location",
        "its-sibling",
        "its-further-location",
        "CWE-79",
        "CVE-2024-12321",
        "its-reference",
    ):
        assert text in first
    for response in responses(path):
        assert CANARY not in every_byte(response).lower()
        assert "CVE-2024-77777" not in every_byte(response)
        assert "acct_" not in every_byte(response)
        assert "owner" not in every_byte(response)


def test_a_link_to_a_problem_shows_its_evidence_only_if_that_was_chosen(owner, canaries, shared_problem):
    path = share(owner, f"{PATH}share/?problem={shared_problem}", evidence="on")
    page = every_byte(Client().get(path))
    assert "canary evidence of its own" in page
    assert "canary evidence of the sibling" in page
    for text in ("canary title", "canary note", "canary reason", "Canary Holding", "acct_"):
        assert text not in page


def test_these_checks_find_canaries(owner, canaries, shared):
    with_evidence = share(owner, f"{PATH}findings/{shared.pk}/share/", evidence="on")
    assert "canary evidence of its own" in every_byte(Client().get(with_evidence))
    assert "canary title" in every_byte(Client().get(share(owner, f"{PATH}share/")))
    everything = every_byte(owner.get(f"{PATH}findings/{shared.pk}/"))
    for text in ("canary note about it", "canary reason", "Canary Holding"):
        assert text in everything


def test_links_end_with_the_plan_and_with_the_link_of_the_website(owner, link, shared):
    shared.refresh_from_db()
    addresses = [f"findings/{shared.pk}/share/", "share/", f"share/?problem={shared.problem}"]
    paths = [share(owner, f"{PATH}{address}") for address in addresses]
    assert [Client().get(path).status_code for path in paths] == [200, 200, 200]
    entitlement = link.account.entitlement
    entitlement.ends_on = entitlement.starts_on = timezone.now().date() - timedelta(days=30)
    entitlement.save()
    assert [Client().get(path).status_code for path in paths] == [404, 404, 404]
    entitlement.ends_on = timezone.now().date() + timedelta(days=30)
    entitlement.save()
    assert [Client().get(path).status_code for path in paths] == [200, 200, 200]
    link.revoke(by="tests", reason="asked to", now=timezone.now())
    assert [Client().get(path).status_code for path in paths] == [404, 404, 404]


def test_a_link_ends_when_its_finding_is_gone(owner, shared):
    path = share(owner, f"{PATH}findings/{shared.pk}/share/")
    shared.delete()
    assert Client().get(path).status_code == 404


def test_a_finding_of_another_website_cannot_be_shared(owner, link):
    other = make_finding(make_website("other.example.com"))
    assert owner.post(f"{PATH}findings/{other.pk}/share/", {"days": "7"}).status_code == 404
    assert not ShareLink.objects.exists()


@pytest.fixture
def retestable(link, settings):
    """A finding that this service can retest; another account has answered it."""
    settings.CRAWLER_ENABLED = True
    finding = make_finding(link.website, source=make_source("essentials"), title="The shared finding")
    theirs = make_account("acct_canary")
    Answer.objects.create(
        account=theirs,
        website=link.website,
        finding=finding,
        answer="accepted",
        reason="canary reason",
        name="canary",
        severity_then=finding.severity,
    )
    return finding


def test_a_reader_says_that_it_is_fixed_and_reads_what_the_retest_found(owner, link, retestable):
    path = share(owner, f"{PATH}findings/{retestable.pk}/share/", fixed="on")
    reader, own = Client(), Answer.objects.filter(account=link.account)
    assert "A scan checks it at once after “I fixed it”." in every_byte(reader.get(path))
    waiting = every_byte(reader.post(f"{path}fixed/", {"name": "Dev <1>"}, follow=True))
    assert "A scan that checks it is waiting." in waiting
    answer, job = own.get(), ScanJob.objects.get()
    assert (answer.answer, answer.name, answer.by) == ("fixed", "Dev <1>", "")
    assert (job.trigger, job.finding_id) == ("retest", retestable.pk)
    for response in responses(path):
        assert CANARY not in every_byte(response).lower()
        assert "acct_" not in every_byte(response)

    now = timezone.now()
    job.state, job.outcome, job.started_at, job.ended_at = "finished", "still_there", now, now
    job.save()
    retestable.last_seen = now
    retestable.save()
    with transaction.atomic():
        settling.settle(link.website_id, now)
    assert own.get().outcome == "still_there"
    assert "A scan still found it." in every_byte(reader.get(path))

    ShareLink.objects.update(said_fixed_at=now - timedelta(hours=1))
    reader.post(f"{path}fixed/")
    retestable.status, retestable.fixed_at = "fixed", now
    retestable.save()
    with transaction.atomic():
        settling.settle(link.website_id, now)
    assert "A scan no longer finds it." in every_byte(reader.get(path))


def test_a_reader_does_not_replace_the_teams_answer(owner, link, retestable):
    path = share(owner, f"{PATH}findings/{retestable.pk}/share/", fixed="on")
    answer = Answer.objects.create(
        account=link.account,
        website=link.website,
        finding=retestable,
        answer="will_fix",
        reason="canary plan",
        severity_then=retestable.severity,
    )
    with transaction.atomic():
        changed(link.account_id, link.website_id)
    page = every_byte(Client().post(f"{path}fixed/", {"name": "Dev"}, follow=True))
    assert "The team has already answered this finding." in page
    assert CANARY not in page
    answer.refresh_from_db()
    assert answer.ended_at is None
    assert not ScanJob.objects.exists()
