from datetime import timedelta

import msgspec
import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from config.demo import seeding
from config.demo.accounts import Note, read_accounts
from dashboard_api import models as api
from dashboard_api.crawler.inventory import build_inventory
from dashboard_api.reading import topics
from portal import models as portal
from tests.dashboard_api.calls import account_site

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def seeded(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        seeding.seed("correct horse battery")
        yield
        transaction.set_rollback(True)


def linked(host):
    return api.SiteLink.objects.get(website__host=host)


def test_the_owner_sees_six_websites_of_two_accounts():
    websites = portal.Website.objects.visible_to(User.objects.get(username="owner"))
    assert {website.host for website in websites} == {
        "shop.example.com",
        "blog.example.org",
        "launch.example.net",
        "outlet.example.com",
        "moved.example.net",
        "press.example.org",
    }
    assert {website.account.ref for website in websites} == {"acct_0001", "acct_0002"}


def test_the_neighbour_sees_a_website_of_an_account_of_their_own():
    (website,) = portal.Website.objects.visible_to(User.objects.get(username="neighbour"))
    assert (website.host, website.account.ref) == ("bakery.example.net", "acct_0003")
    assert api.Finding.objects.filter(website__host=website.host).exists()


def test_a_scanned_website_has_an_inventory_with_a_new_and_a_changed_script():
    shown = build_inventory(account_site(linked("shop.example.com")))
    assert [each.current for each in shown.certificates] == [True, True]
    assert shown.domain.name == "example.com"
    assert [each.host for each in shown.scripts if each.new] == ["widgets.example.org"]
    assert [each.host for each in shown.scripts if each.pinned_sha256 not in (None, each.sha256)] == [
        "cdn.example.org"
    ]
    assert build_inventory(account_site(linked("launch.example.net"))).scripts_at is None


def test_the_shop_has_over_a_thousand_open_findings_across_ninety_days():
    findings = api.Finding.objects.filter(website__host="shop.example.com")
    now = timezone.now()
    assert findings.filter(status="open").count() > 1000
    assert findings.filter(first_seen__lt=now - timedelta(days=85)).exists()
    assert findings.filter(first_seen__gt=now - timedelta(days=7)).exists()
    assert not findings.filter(first_seen__lt=now - timedelta(days=90)).exists()
    assert not findings.filter(last_seen__gt=now).exists()


def test_the_pinned_note_counts_the_problems_that_the_dashboard_counts():
    worst = api.Finding.objects.filter(website__host="shop.example.com", status="open", severity=4)
    problems = {topics.problem_id(problem) for problem in worst.values_list("problem", flat=True)}
    note = api.AnalystNote.objects.get(website__host="shop.example.com", is_pinned=True)
    assert len(problems) == 5
    assert "*Critical* comes down to five problems" in note.body


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("severity", set(api.Severity.values)),
        ("kind", set(api.Kind.values)),
        ("status", set(api.Finding.Status.values)),
        ("source__slug", {"nuclei", "zap", "wapiti", "testssl", "mdn-observatory"}),
    ],
)
def test_the_shops_findings_show_every(field, values):
    findings = api.Finding.objects.filter(website__host="shop.example.com")
    assert set(findings.values_list(field, flat=True)) == values


def test_the_shops_coverage_shows_every_state_of_a_run():
    coverage = api.Coverage.objects.filter(website__host="shop.example.com")
    assert set(coverage.values_list("state", flat=True)) == {"ok", "partial", "failed"}


def test_a_new_customer_of_the_demo_sees_no_scanner_that_never_runs():
    assert not api.Source.objects.filter(enabled=True).exists()


def test_a_later_discovery_has_a_higher_id():
    findings = api.Finding.objects.filter(website__host="shop.example.com").order_by("id")
    discovered = list(findings.values_list("first_seen", flat=True))
    assert discovered == sorted(discovered)


def test_what_became_of_a_finding_is_in_its_timeline_with_a_reason():
    for finding in api.Finding.objects.exclude(status="open").prefetch_related("events"):
        (step,) = finding.events.all()
        assert (step.event, step.website_id) == (finding.status, finding.website_id)
        assert bool(step.reason) is (finding.status != "fixed")
        assert (finding.triage_until is not None) is (finding.status == "accepted_risk")


def test_findings_know_their_places():
    findings = api.Finding.objects.annotate(places=Count("occurrences")).prefetch_related("occurrences")
    for finding in findings:
        locations = [occurrence.location for occurrence in finding.occurrences.all()]
        assert finding.locations_count == finding.places
        assert finding.location == locations[0]
        assert finding.other_locations == "\n".join(locations[1:])


def test_findings_and_notes_pass_the_models_own_checks():
    for row in [*api.Finding.objects.all()[:200], *api.AnalystNote.objects.all()]:
        row.full_clean(validate_unique=False, validate_constraints=False)


def test_one_website_is_clean_and_was_checked_by_every_engine_today():
    website = api.Website.objects.get(host="blog.example.org")
    assert not website.findings.exists()
    recent = website.coverage.filter(state="ok", completed_at__gt=timezone.now() - timedelta(days=1))
    assert recent.count() == api.Source.objects.count()


def test_one_website_was_never_checked():
    website = api.Website.objects.get(host="launch.example.net")
    assert not website.findings.exists()
    assert not website.coverage.exists()


def test_one_entitlement_has_ended_and_the_others_hold():
    today = timezone.now().date()
    ended = [
        entitlement.account.ref
        for entitlement in api.Entitlement.objects.all()
        if not entitlement.is_usable_on(today)
    ]
    assert ended == [linked("press.example.org").account.ref]


def test_one_link_is_revoked_with_a_reason():
    (link,) = api.SiteLink.objects.filter(revoked_at__isnull=False)
    assert link.website.host == "outlet.example.com"
    assert link.events.get(action="revoked").reason


def test_every_link_pairs_but_one():
    unpaired = [
        website.host
        for website in portal.Website.objects.all()
        if website.link_id != linked(website.host).link_id
    ]
    assert unpaired == ["moved.example.net"]


def test_every_website_was_verified():
    assert not api.Website.objects.filter(verified_at__isnull=True).exists()


def test_both_sides_hold_the_same_secret():
    for account in portal.Account.objects.all():
        secret = api.Secret.objects.get(account__ref=account.ref)
        assert secret.reveal() == account.reveal_secret()


def test_notes_are_of_every_sort():
    notes = api.AnalystNote.objects.filter(website__host="shop.example.com")
    assert notes.filter(is_internal=True, finding=None).exists()
    assert notes.filter(is_internal=True, finding__isnull=False).exists()
    assert notes.filter(is_internal=False, finding__severity=api.Severity.CRITICAL).exists()
    assert notes.filter(is_internal=False, account__ref="acct_0001").exists()
    assert notes.filter(is_internal=False, account=None, finding=None).exists()


def test_an_analyst_has_verified_a_finding_of_the_shop_and_says_why():
    finding = api.Finding.objects.get(source_kind__isnull=False)
    assert (finding.website.host, finding.status) == ("shop.example.com", "open")
    assert finding.events.get(event="confirmed").reason
    assert finding.notes.filter(is_internal=False).exists()


def test_people_sign_in_with_the_given_password():
    for person in read_accounts().people:
        assert User.objects.get(username=person.username).check_password("correct horse battery")


def test_the_analyst_writes_notes_and_sees_no_secret():
    analyst = User.objects.get(username="analyst")
    assert analyst.is_staff
    assert not analyst.is_superuser
    assert analyst.has_perms(["dashboard_api.add_analystnote", "dashboard_api.view_finding"])
    assert not analyst.has_perm("dashboard_api.view_secret")
    assert not analyst.has_perm("portal.view_account")


def test_the_admin_may_everything():
    assert User.objects.get(username="admin").is_superuser


@pytest.fixture
def empty():
    for model in (api.Website, api.Account, api.Source, portal.Account, User, Group):
        model.objects.all().delete()


def test_a_second_seeding_differs_only_in_time(request):
    def findings():
        return list(api.Finding.objects.order_by("id").values_list("title", "status", "severity", "location"))

    before = findings()
    request.getfixturevalue("empty")
    seeding.seed("another")
    assert findings() == before


def test_a_seeding_that_fails_leaves_nothing_behind(empty, monkeypatch):
    note = Note(host="blog.example.org", days_ago=1, rule="no finding of this rule", body="…")
    data = msgspec.structs.replace(read_accounts(), notes=[note])
    monkeypatch.setattr(seeding, "read_accounts", lambda: data)
    with pytest.raises(api.Finding.DoesNotExist):
        seeding.seed("another")
    assert not api.Website.objects.exists()
    assert not seeding.is_seeded()


def test_a_seeded_database_differs_from_an_empty_one(request):
    assert seeding.is_seeded()
    request.getfixturevalue("empty")
    assert not seeding.is_seeded()
