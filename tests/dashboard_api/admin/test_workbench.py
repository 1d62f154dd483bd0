"""The analyst's workbench: queue, decisions, notes, and who may do what."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.admin.findings import FindingAdmin
from dashboard_api.models import AnalystNote, Finding, Severity
from tests.factories import (
    make_account,
    make_finding,
    make_link,
    make_note,
    make_occurrence,
    make_source,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db
URL = "/admin/dashboard_api/finding/workbench/"
ANALYST = ("view_finding", "change_finding", "add_analystnote", "change_analystnote", "view_account")


@pytest.fixture
def staff(client):
    """Sign in a staff user with the permissions that a test gives."""
    user = make_user("grace", is_staff=True)
    client.force_login(user)

    def allow(*codenames):
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        return client

    return allow


@pytest.fixture
def analyst(staff):
    return staff(*ANALYST)


@pytest.fixture
def link():
    return make_link()


def action(name, *args):
    return reverse(f"admin:dashboard_api_finding_workbench_{name}", args=args)


def decide(client, finding, decision, **fields):
    return client.post(action("decide", finding.pk), {"decision": decision, "back": "", "next": ""} | fields)


def rows(response):
    return [row.id for row in response.context["queue"].rows]


class TestQueue:
    def test_the_worst_finding_is_first_and_open(self, analyst, link):
        low = make_finding(link.website, severity=Severity.LOW)
        critical = make_finding(link.website, severity=Severity.CRITICAL, title="The worst")
        response = analyst.get(URL)
        assert rows(response) == [critical.pk, low.pk]
        assert response.context["panel"].finding == critical

    def test_reviewed_and_decided_findings_leave_the_queue(self, analyst, link):
        make_finding(link.website, status=Finding.Status.FALSE_POSITIVE)
        reviewed = make_finding(link.website, reviewed_at=timezone.now())
        assert rows(analyst.get(URL)) == []
        assert rows(analyst.get(URL, {"queue": "all"})) == [reviewed.pk]

    @pytest.mark.parametrize(
        "query", [{"severity": "4"}, {"source": "zap"}, {"website": "SHOP"}, {"website": "shop.example.com"}]
    )
    def test_each_filter_leaves_its_findings(self, analyst, link, query):
        wanted = make_finding(link.website, severity=Severity.CRITICAL, source=make_source("zap"))
        make_finding(make_website("other.example.org"), severity=Severity.LOW)
        assert rows(analyst.get(URL, query)) == [wanted.pk]

    @pytest.mark.parametrize("query", [{"severity": "9"}, {"after": "x"}, {"finding": "x"}, {"queue": "y"}])
    def test_unknown_values_count_as_absent(self, analyst, link, query):
        finding = make_finding(link.website)
        assert rows(analyst.get(URL, query)) == [finding.pk]

    def test_pages_hold_every_finding_once(self, analyst, link, monkeypatch):
        monkeypatch.setattr("dashboard_api.admin.queue.ROWS", 2)
        findings = [make_finding(link.website, severity=number % 3) for number in range(5)]
        seen, url = [], URL
        while url:
            response = analyst.get(url)
            seen += rows(response)
            url = response.context["queue"].next_page_url
        assert sorted(seen) == sorted(finding.pk for finding in findings)

    @pytest.mark.parametrize("address", [f"{URL}?finding=999", f"{URL}999/decide/"])
    def test_a_finding_that_does_not_exist_is_not_found(self, analyst, address):
        assert analyst.get(address).status_code == 404

    def test_more_findings_need_no_more_queries(self, analyst, link, django_assert_max_num_queries):
        for _ in range(3):
            make_finding(link.website)
        with django_assert_max_num_queries(17):
            analyst.get(URL)
        for number in range(30):
            other = make_link(make_account(f"acct_{number}"), make_website(f"site-{number}.example.com"))
            finding = make_finding(other.website, severity=Severity.CRITICAL)
            make_note(other.website, finding=finding)
            make_occurrence(finding, "https://example.com/")
        with django_assert_max_num_queries(17):
            analyst.get(URL)


class TestFinding:
    def test_references_of_the_web_are_links_and_others_are_text(self, analyst, link):
        references = ["https://example.com/advice", "javascript:alert(1)", "http://["]
        make_finding(link.website, references=references, cve=["CVE-2024-12345"], cwe=[89])
        page = analyst.get(URL).content.decode()
        assert 'href="https://example.com/advice"' in page
        assert "nvd.nist.gov/vuln/detail/CVE-2024-12345" in page
        assert "definitions/89.html" in page
        assert 'href="javascript' not in page

    def test_evidence_is_escaped(self, analyst, link):
        make_finding(link.website, evidence="<script>alert(1)</script>")
        assert "<script>alert(1)" not in analyst.get(URL).content.decode()

    def test_a_website_of_several_customers_has_a_warning(self, analyst, link):
        make_finding(link.website)
        assert "More than one customer" not in analyst.get(URL).content.decode()
        make_link(make_account("acct_0002"), link.website)
        page = analyst.get(URL).content.decode()
        assert "More than one customer" in page
        assert "acct_0002" in page


class TestDecisions:
    def test_reviewed_takes_the_finding_out_of_the_queue_and_opens_the_next(self, analyst, link):
        following = make_finding(link.website, severity=Severity.LOW)
        finding = make_finding(link.website, severity=Severity.HIGH)
        assert analyst.get(URL).context["queue"].next == following.pk
        response = decide(analyst, finding, "reviewed", next=following.pk, back="severity=3")
        assert response["Location"] == f"{URL}?severity=3&finding={following.pk}"
        finding.refresh_from_db()
        assert (finding.reviewed_at is None, finding.status) == (False, "open")
        assert LogEntry.objects.get().object_id == str(finding.pk)

    def test_a_finding_that_was_reviewed_too_early_is_put_back_from_the_message(self, analyst, link):
        finding = make_finding(link.website)
        done = analyst.get(decide(analyst, finding, "reviewed", back="severity=2")["Location"]).text
        address = f"{URL}?severity=2&amp;finding={finding.pk}"
        assert f'<a href="{address}">Show it again</a>' in done
        page = analyst.get(URL, {"severity": 2, "finding": finding.pk}).text
        assert "Back into the queue" in page
        assert rows(analyst.get(URL)) == []
        response = decide(analyst, finding, "to_review", back="severity=2")
        assert response["Location"] == f"{URL}?severity=2&finding={finding.pk}"
        assert rows(analyst.get(URL)) == [finding.pk]

    def test_the_title_in_the_message_is_text(self, analyst, link):
        finding = make_finding(link.website, title="<script>alert(1)</script>")
        page = analyst.get(decide(analyst, finding, "reviewed")["Location"]).text
        assert "<script>alert" not in page

    @pytest.mark.parametrize("status", ["false_positive", "accepted_risk", "fixed"])
    def test_a_decision_stores_the_reason_of_its_template_and_own_words(self, analyst, link, status):
        finding = make_finding(link.website)
        templates = analyst.get(URL).context["decisions"]
        template = next(form for form in templates if form.decision == status)["template"].initial
        decide(analyst, finding, status, template=template, reason="Seen with Ada.")
        event = finding.events.get()
        assert (event.event, event.by) == (status, "grace")
        assert event.reason.endswith("Seen with Ada.")
        assert len(event.reason) > len("Seen with Ada.")

    def test_the_forms_say_what_holds_at_further_locations(self, analyst, link):
        make_finding(link.website)
        page = analyst.get(URL).text
        assert page.count("if a report adds another, the finding is open again.") == 1
        assert page.count("locations found later are accepted as well.") == 1

    def test_the_reason_of_a_template_is_offered_and_stored_in_english(self, analyst, link):
        finding = make_finding(link.website)
        german = {"headers": {"accept-language": "de"}}
        assert "Checked by hand: the problem is gone." in analyst.get(URL, **german).text
        fields = {"decision": "fixed", "template": "gone", "reason": ""}
        analyst.post(action("decide", finding.pk), fields, **german)
        assert finding.events.get().reason == "Checked by hand: the problem is gone."
        assert LogEntry.objects.get().change_message == "Fixed: Checked by hand: the problem is gone."

    def test_the_severity_is_changed_and_a_decision_is_reopened(self, analyst, link):
        finding = make_finding(link.website, severity=Severity.HIGH)
        decide(analyst, finding, "severity", severity="1", template="less")
        decide(analyst, finding, "fixed", template="gone")
        decide(analyst, finding, "reopen", template="still")
        finding.refresh_from_db()
        assert (finding.severity, finding.status) == (Severity.LOW, "open")

    def test_a_finding_is_confirmed_and_the_panel_shows_the_scanners_kind_as_well(self, analyst, link):
        finding = make_finding(link.website, kind="suspected")
        assert "confirmed by an analyst" not in analyst.get(URL).text
        decide(analyst, finding, "confirm", template="reproduced")
        finding.refresh_from_db()
        assert (finding.kind, finding.source_kind) == ("confirmed", "suspected")
        page = analyst.get(URL, {"finding": finding.pk})
        assert "confirmed by an analyst, the scanner says suspected" in page.text
        assert "Confirmed by an analyst (grace) Checked by hand: the problem can be reproduced." in " ".join(
            page.text.split()
        )
        decide(analyst, finding, "unconfirm", template="mistaken")
        finding.refresh_from_db()
        assert (finding.kind, finding.source_kind) == ("suspected", None)

    @pytest.mark.parametrize(
        ("fields", "decision"),
        [
            ({"kind": "suspected"}, "confirm"),
            ({"kind": "confirmed"}, "confirm"),
            ({"kind": "confirmed", "source_kind": "suspected"}, "unconfirm"),
            ({"kind": "informational"}, None),
            ({"kind": "suspected", "status": "false_positive"}, None),
            ({"kind": "suspected", "status": "accepted_risk"}, "confirm"),
        ],
    )
    def test_the_key_c_confirms_or_takes_the_confirmation_back(self, analyst, link, fields, decision):
        finding = make_finding(link.website, **fields)
        forms = analyst.get(URL, {"finding": finding.pk}).context["decisions"]
        assert next((form.decision for form in forms if form.key == "c"), None) == decision
        assert len({form.key for form in forms}) == len(forms)

    def test_back_into_the_queue_takes_a_confirmation_back(self, analyst, link):
        finding = make_finding(link.website, kind="suspected")
        decide(analyst, finding, "confirm", template="evidence")
        assert rows(analyst.get(URL)) == []
        page = analyst.get(decide(analyst, finding, "to_review")["Location"]).text
        assert "no longer confirmed by an analyst" in page
        assert rows(analyst.get(URL)) == [finding.pk]
        finding.refresh_from_db()
        assert (finding.kind, finding.source_kind, finding.reviewed_at) == ("suspected", None, None)
        assert finding.events.last().reason == "We are checking it again."

    def test_a_refusal_is_shown_next_to_the_form_and_changes_nothing(self, analyst, link):
        finding = make_finding(link.website)
        response = decide(analyst, finding, "false_positive", template="own", reason="")
        assert "Say why" in response.content.decode()
        past = decide(analyst, finding, "accepted_risk", template="agreed", until="2020-01-01")
        assert "This day has passed" in past.content.decode()
        finding.refresh_from_db()
        assert finding.status == "open"

    def test_nothing_leads_out_of_the_workbench(self, analyst, link):
        response = decide(analyst, make_finding(link.website), "reviewed", back="//evil.example", next="1e9")
        assert response["Location"] == URL

    def test_an_unknown_decision_is_not_found(self, analyst, link):
        assert decide(analyst, make_finding(link.website), "delete").status_code == 404

    def test_a_decision_about_several_names_websites_and_customers_first(self, analyst, link):
        findings = [make_finding(link.website), make_finding(make_website("b.example.com"))]
        make_link(make_account("acct_0002"), findings[1].website)
        chosen = {"_selected_action": [finding.pk for finding in findings], "action": "false_positive"}
        page = analyst.post(action("selected"), chosen).content.decode()
        for text in ("shop.example.com", "b.example.com", "acct_0001", "acct_0002", "more than one customer"):
            assert text in page
        assert not Finding.objects.exclude(status="open").exists()
        confirmed = chosen | {"confirmed": "True", "reason": "Both are mistaken."}
        assert analyst.post(action("selected"), confirmed)["Location"] == URL
        assert Finding.objects.filter(status="false_positive").count() == 2

    def test_a_review_of_several_is_in_the_history_of_each(self, analyst, link):
        findings = [make_finding(link.website), make_finding(link.website)]
        known = make_finding(link.website, reviewed_at=timezone.now())
        chosen = {"_selected_action": [finding.pk for finding in (*findings, known)]}
        analyst.post(action("selected"), chosen | {"action": "mark_reviewed"})
        entries = LogEntry.objects.filter(change_message="Marked as reviewed.")
        assert {entry.object_id for entry in entries} == {str(finding.pk) for finding in findings}
        events = AuditEvent.objects.filter(action="admin.changed")
        assert {event.object_id for event in events} == {str(finding.pk) for finding in findings}
        assert not Finding.objects.filter(reviewed_at=None).exists()

    def test_a_review_that_a_colleague_made_meanwhile_is_on_record_once(self, analyst, link, monkeypatch):
        findings = [make_finding(link.website), make_finding(link.website)]
        log_change = FindingAdmin.log_change

        def log_after_a_colleague(*args):
            Finding.objects.update(reviewed_at=timezone.now())  # the colleague reviews both
            return log_change(*args)

        monkeypatch.setattr(FindingAdmin, "log_change", log_after_a_colleague)
        chosen = {"_selected_action": [finding.pk for finding in findings], "action": "mark_reviewed"}
        analyst.post(action("selected"), chosen)
        assert LogEntry.objects.filter(change_message="Marked as reviewed.").count() == 1

    @pytest.mark.parametrize("fields", [{}, {"action": "delete_selected"}, {"action": "fixed"}])
    def test_nothing_selected_changes_nothing(self, analyst, link, fields):
        make_finding(link.website)
        assert analyst.post(action("selected"), fields).status_code == 302
        assert Finding.objects.get().status == "open"


class TestNotes:
    def test_a_note_is_added_internal_and_then_published(self, analyst, link):
        finding = make_finding(link.website)
        analyst.post(action("note", finding.pk), {"body": "Seen by hand.", "is_internal": "on"})
        note = AnalystNote.objects.get()
        assert (note.finding, note.author, note.is_internal) == (finding, "grace", True)
        analyst.post(action("publish", note.pk), {"back": ""})
        note.refresh_from_db()
        assert not note.is_internal
        assert note.published_at

    def test_a_note_for_a_customer_without_the_website_is_refused(self, analyst, link):
        stranger = make_account("acct_0002")
        fields = {"body": "For you.", "account": stranger.pk}
        response = analyst.post(action("note", make_finding(link.website).pk), fields)
        assert response.status_code == 200
        assert not AnalystNote.objects.exists()

    def test_an_empty_note_is_refused_and_nothing_is_stored(self, analyst, link):
        response = analyst.post(action("note", make_finding(link.website).pk), {"body": " "})
        assert "This field is required" in response.content.decode()
        assert not AnalystNote.objects.exists()


class TestPermissions:
    @pytest.mark.parametrize("path", ["", "1/decide/", "1/note/", "selected/", "notes/1/publish/"])
    @pytest.mark.parametrize("codenames", [(), ("view_account", "add_analystnote", "change_analystnote")])
    def test_staff_without_the_right_see_nothing(self, staff, link, path, codenames):
        finding = make_finding(link.website, title="Only for analysts")
        note = make_note(link.website, finding=finding, is_internal=True)
        client = staff(*codenames)
        address = URL + path.replace("1", str(note.pk if "notes" in path else finding.pk))
        response = client.post(address, {"decision": "reviewed"}) if path else client.get(address)
        assert response.status_code == 403
        assert b"Only for analysts" not in response.content
        finding.refresh_from_db()
        assert finding.reviewed_at is None

    def test_staff_who_may_only_view_have_no_forms_and_cannot_decide(self, staff, link):
        finding = make_finding(link.website)
        client = staff("view_finding")
        page = client.get(URL).content.decode()
        assert "data-key" not in page
        assert "_selected_action" not in page
        assert decide(client, finding, "reviewed").status_code == 403
        assert client.post(action("note", finding.pk), {"body": "x"}).status_code == 403
        assert client.post(action("selected"), {"_selected_action": finding.pk}).status_code == 403

    def test_notes_and_customers_are_shown_only_to_staff_who_may_view_them(self, staff, link):
        finding = make_finding(link.website)
        make_note(link.website, finding=finding, body="Called them.", is_internal=True)
        make_note(link.website, finding=finding, body="For you.", account=link.account)

        def shown(*codenames):
            page = staff("view_finding", *codenames).get(URL).text
            return [text in page for text in ("Called them.", "For you.", "acct_0001")]

        assert shown() == [False, False, False]
        assert shown("view_account") == [False, False, True]
        assert shown("view_analystnote") == [True, True, False]
        assert shown("change_analystnote", "add_analystnote") == [True, True, False]
        assert shown("view_analystnote", "view_account") == [True, True, True]

    def test_members_and_visitors_are_led_to_the_sign_in(self, client, link):
        finding = make_finding(link.website)
        for user in (None, make_user("owner")):
            if user:
                client.force_login(user)
            assert client.get(URL).status_code == 302
            assert decide(client, finding, "reviewed").status_code == 302
        finding.refresh_from_db()
        assert finding.reviewed_at is None
