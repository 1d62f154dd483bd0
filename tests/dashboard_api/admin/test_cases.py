"""Questions and disputes in the admin: the queue, acts, both tables, and who may do what."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.admin.case_forms import ACTS
from dashboard_api.crawler import installed
from dashboard_api.decisions import cases
from dashboard_api.models import Case, Message, Severity
from foundation.texts.people import reference_of
from tests.dashboard_api.disputes import REASON, answer, ask, dispute
from tests.factories import make_account, make_finding, make_link, make_source, make_user, make_website

pytestmark = pytest.mark.django_db
URL = "/admin/dashboard_api/case/workbench/"
ANALYST = ("view_case", "view_finding", "change_finding", "view_account", "add_standingdecision")


@pytest.fixture
def staff(client):
    """Sign in a staff user with the permissions that a test gives."""
    user = make_user("grace", is_staff=True)
    client.force_login(user)
    client.user = user

    def allow(*codenames):
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        return client

    return allow


@pytest.fixture
def analyst(staff):
    return staff(*ANALYST)


@pytest.fixture
def link():
    return make_link(make_account(name="Shop Ltd"))


@pytest.fixture
def finding(link):
    return make_finding(link.website, rule="xss", title="Cross-site scripting")


def decide(client, case, act, text="We looked.", **fields):
    address = reverse("admin:dashboard_api_case_workbench_decide", args=[case.pk])
    return client.post(address, {"act": act, "text": text, "back": "", "next": ""} | fields)


def rows(response):
    return [row.id for row in response.context["queue"].rows]


def days_ago(days):
    return timezone.now() - timedelta(days=days)


def close(case, act="disagree", by="bob", text="It is real."):
    getattr(cases, act)(case, by=by, person="", text=text, now=timezone.now())


class TestQueue:
    def test_the_most_urgent_promise_is_first_and_open(self, analyst, link, finding):
        later = ask(link, finding)
        urgent = dispute(link, make_finding(link.website), now=days_ago(30))
        response = analyst.get(URL)
        assert rows(response) == [urgent.pk, later.pk]
        assert response.context["panel"].case == urgent

    def test_only_promises_whose_day_has_passed_are_overdue(self, analyst, link, finding):
        late, today = ask(link, finding), ask(link, make_finding(link.website))
        Case.objects.filter(pk=late.pk).update(promised_on=timezone.localdate() - timedelta(days=1))
        Case.objects.filter(pk=today.pk).update(promised_on=timezone.localdate())
        response = analyst.get(URL)
        assert [row.is_overdue for row in response.context["queue"].rows] == [True, False]
        assert response.text.count("overdue since") == 1
        assert rows(analyst.get(URL, {"show": "overdue"})) == [late.pk]

    def test_filters_leave_their_cases_and_unknown_values_count_as_absent(self, analyst, link, finding):
        question, disputed = ask(link, finding), dispute(link, make_finding(link.website))
        assert rows(analyst.get(URL, {"kind": "question"})) == [question.pk]
        cases.ask(disputed, by="bob", person="", text="Which version?", now=timezone.now())
        assert rows(analyst.get(URL)) == [question.pk]
        assert rows(analyst.get(URL, {"show": "asked"})) == [disputed.pk]
        assert rows(analyst.get(URL, {"show": "x", "kind": "y", "case": "z"})) == [question.pk]

    def test_a_case_of_a_website_that_the_account_no_longer_has_waits_for_nobody(
        self, analyst, link, finding
    ):
        ask(link, finding)
        link.revoke(by="ada", reason="sold", now=timezone.now())
        response = analyst.get(URL)
        assert rows(response) == []
        assert "Nothing to answer" in response.text

    @pytest.mark.parametrize(
        "address", [f"{URL}?case=999", f"{URL}999/decide/", "/admin/dashboard_api/case/9/change/"]
    )
    def test_a_case_that_does_not_exist_is_not_found(self, analyst, address):
        assert analyst.get(address).status_code == 404

    def test_a_long_queue_leads_to_the_list(self, analyst, link, monkeypatch):
        monkeypatch.setattr("dashboard_api.admin.case_queue.ROWS", 2)
        for _ in range(3):
            ask(link, make_finding(link.website))
        response = analyst.get(URL)
        assert len(rows(response)) == 2
        listed = analyst.get("/admin/dashboard_api/case/?closed_at__isempty=1")
        assert "/admin/dashboard_api/case/?closed_at__isempty=1" in response.text
        assert listed.context["cl"].result_count == 3

    def test_more_cases_messages_and_findings_need_no_more_queries(
        self, analyst, link, finding, django_assert_max_num_queries
    ):
        dispute(link, finding, now=days_ago(30))
        with django_assert_max_num_queries(22):
            analyst.get(URL)
        for number in range(12):
            other = make_link(make_account(f"acct_{number}"), make_website(f"site-{number}.example.com"))
            theirs = make_finding(other.website, rule="xss")
            close(dispute(other, theirs))
            ask(other, theirs)
            ask(link, finding, by=f"user-{number}")
        dispute(link, *(make_finding(link.website, rule="xss") for _ in range(12)), now=days_ago(60))
        with django_assert_max_num_queries(22):
            analyst.get(URL)


class TestCase:
    def test_it_has_both_sides_words_in_order_and_names_no_reference(self, analyst, link, finding):
        case = dispute(link, finding, evidence="curl says 403")
        cases.ask(case, by="bob", person="", text="Which version?", now=timezone.now())
        ask(link, finding, text="Version 3")
        response = analyst.get(URL)
        lines = [(line.who, line.side, line.event, line.text) for line in response.context["panel"].lines]
        assert lines == [
            ("Shop Ltd", "Customer", "Disputes", f"{REASON}\n\ncurl says 403"),
            ("bob", "Analyst", "Asks", "Which version?"),
            ("Shop Ltd", "Customer", "", "Version 3"),
        ]
        assert "user-900" not in response.text
        assert f"finding={finding.pk}" in response.text

    def test_words_of_other_accounts_about_the_finding_are_not_shown(self, analyst, link, finding):
        ask(make_link(make_account("acct_0002"), link.website), finding, text="Ours alone", now=days_ago(9))
        case = ask(link, finding)
        assert "Ours alone" not in analyst.get(URL, {"case": case.pk}).text

    def test_texts_are_escaped(self, analyst, link, finding):
        ask(link, finding, text="<script>alert(1)</script>")
        assert "<script>alert(1)" not in analyst.get(URL).text

    def test_it_names_the_further_findings_of_a_dispute(self, analyst, link, finding):
        others = [make_finding(link.website, location=f"/page/{number}") for number in range(25)]
        dispute(link, finding, *others)
        panel = analyst.get(URL).context["panel"]
        assert (panel.case.findings, len(panel.others), panel.more_others) == (26, 20, 5)

    def test_it_counts_the_decided_disputes_of_the_rule(self, analyst, link, finding):
        other = make_link(make_account("acct_0002"), make_website("b.example.com"))
        for whose, act in ((link, "agree"), (link, "disagree"), (other, "agree")):
            several = [make_finding(whose.website, rule="xss") for _ in range(3)]
            close(dispute(whose, *several), act, text=f"{act} {whose.account}")
        close(dispute(link, make_finding(link.website, rule="sqli")), "agree", text="Another rule")
        dispute(other, make_finding(other.website, rule="xss"))
        case = dispute(link, finding)
        response = analyst.get(URL, {"case": case.pk})
        history = response.context["panel"].history
        assert (history.own, history.others) == ((2, 1), (1, 1))
        assert [earlier.decision for earlier in history.cases] == [
            "agree acct_0002",
            "disagree acct_0001",
            "agree acct_0001",
        ]

    def test_an_earlier_decision_about_the_same_finding_counts_once(self, analyst, link, finding):
        close(dispute(link, finding))
        dispute(link, finding, evidence="A new log")
        assert analyst.get(URL).context["panel"].history.own == (1, 0)


class TestActs:
    @pytest.mark.parametrize(
        ("act", "outcome"),
        [("agree", "agreed"), ("disagree", "disagreed"), ("ask", ""), ("reply", "answered")],
    )
    def test_an_act_is_done_and_the_next_case_opens(self, analyst, link, finding, act, outcome):
        case = (ask if act == "reply" else dispute)(link, finding)
        following = ask(link, make_finding(link.website))
        assert analyst.get(URL).context["queue"].next == following.pk
        response = decide(analyst, case, act, next=following.pk)
        assert response["Location"] == f"{URL}?case={following.pk}"
        case.refresh_from_db()
        assert (case.outcome, case.closed_by) == (outcome, "grace" if outcome else "")
        assert Message.objects.filter(side="analyst").get().text == "We looked."
        entry = LogEntry.objects.get()
        assert (entry.object_id, entry.change_message) == (str(case.pk), f"{ACTS[act].done}.")
        assert not AuditEvent.objects.filter(action="admin.changed").exists()
        page = analyst.get(response["Location"]).text
        done = f"{ACTS[act].done}: Medium: Cross-site scripting"
        assert f'{done} <a href="{URL}?case={case.pk}">Show it again</a>' in page

    def test_a_next_case_that_a_colleague_closed_meanwhile_is_passed_over(self, analyst, link, finding):
        case, closed = ask(link, finding), dispute(link, make_finding(link.website))
        close(closed)
        response = decide(analyst, case, "reply", next=closed.pk, back="kind=question")
        assert response["Location"] == f"{URL}?kind=question"

    def test_the_loser_of_two_analysts_sees_who_decided_and_keeps_the_text(self, analyst, link, finding):
        case = dispute(link, finding)
        close(case)
        page = decide(analyst, case, "agree", text="My long text").text
        assert "It was closed meanwhile by bob: disagreed." in page
        assert "My long text</textarea>" in page
        assert "It is real." in page
        finding.refresh_from_db()
        assert finding.status == "open"

    def test_a_text_that_is_missing_is_asked_for_next_to_the_form(self, analyst, link, finding):
        response = decide(analyst, dispute(link, finding), "disagree", text=" ")
        assert "Write 1 to 4,000 characters: the customer reads them." in response.text
        assert [form.name for form in response.context["forms"]] == ["agree", "disagree", "ask"]
        assert response.context["sent"].name == "disagree"

    def test_a_line_break_counts_as_one_character(self, analyst, link, finding):
        case = ask(link, finding)
        decide(analyst, case, "reply", text="a\r\n" * 1_999 + "ab")
        case.refresh_from_db()
        assert len(case.decision) == 4_000

    def test_nobody_decides_about_their_own_case(self, analyst, link, finding):
        case = dispute(link, finding, by=reference_of(analyst.user.pk))
        page = analyst.get(URL)
        assert page.context["forms"] == []
        assert "another analyst must" in page.text
        refused = decide(analyst, case, "agree")
        assert "You opened it yourself" in refused.text
        assert "We looked.</textarea>" in refused.text
        assert list(Case.objects.open()) == [case]

    def test_without_scripts_the_service_inserts_a_sentence(self, analyst, link, finding):
        case, sentence = dispute(link, finding), ACTS["ask"].sentences[1]
        response = decide(analyst, case, "ask", text="Hello. ", sentence=sentence)
        assert f"Hello. {sentence}</textarea>" in response.text
        unknown = decide(analyst, case, "ask", text="Hello.", sentence="Not ours")
        assert "Not ours" not in unknown.text
        assert not Message.objects.filter(side="analyst").exists()

    @pytest.mark.parametrize("kind", ["dispute", "question"])
    def test_keys_of_acts_and_numbers_of_sentences_are_unique_on_a_page(self, analyst, link, finding, kind):
        (dispute if kind == "dispute" else ask)(link, finding)
        forms = analyst.get(URL).context["forms"]
        keys = [form.act.key for form in forms]
        assert len(set(keys)) == len(keys)
        numbers = [number for form in forms for number, _ in form.sentences]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) <= 9

    def test_an_unknown_act_is_not_found_and_a_link_to_an_act_leads_to_the_case(self, analyst, link, finding):
        case = ask(link, finding)
        assert decide(analyst, case, "delete").status_code == 404
        response = analyst.get(f"{URL}{case.pk}/decide/")
        assert response["Location"] == f"{URL}?case={case.pk}"

    def test_a_closed_case_has_no_forms(self, analyst, link, finding):
        case = dispute(link, finding)
        close(case)
        page = analyst.get(reverse("admin:dashboard_api_case_change", args=[case.pk]))
        assert page.context["forms"] == []
        assert "Disagreed by\n    bob" in page.text


class TestSaidToBeFixed:
    ADDRESS = "/admin/dashboard_api/case/said-fixed/"

    def test_it_lists_open_answers_about_scanners_of_others(self, analyst, link, finding, monkeypatch):
        ours = make_finding(link.website, source=make_source("nuclei"))
        theirs = make_finding(link.website, source=make_source("burp"), title="Theirs")
        monkeypatch.setattr(installed, "profiles", lambda: {"nuclei": "quick"})
        answer(link, ours, theirs, act="fixed", by="", name="Robin")
        answer(link, finding, act="will_fix")
        response = analyst.get(self.ADDRESS)
        assert [row["finding"] for row in response.context["rows"]] == [theirs]
        assert "(Robin, not verified)" in response.text
        assert f"queue=all&amp;finding={theirs.pk}" in response.text

    def test_it_leaves_out_what_is_withdrawn_and_websites_that_the_account_no_longer_has(
        self, analyst, link, finding
    ):
        other = make_finding(link.website)
        answer(link, finding, other, act="fixed")
        answer(link, other, act="withdraw")
        assert [row["finding"] for row in analyst.get(self.ADDRESS).context["rows"]] == [finding]
        link.revoke(by="ada", reason="sold", now=timezone.now())
        assert "No finding waits." in analyst.get(self.ADDRESS).text

    def test_more_rows_need_no_more_queries(self, analyst, link, django_assert_max_num_queries):
        for _ in range(9):
            answer(link, make_finding(link.website), act="fixed")
        with django_assert_max_num_queries(8):
            assert len(analyst.get(self.ADDRESS).context["rows"]) == 9


class TestDisputedRules:
    ADDRESS = "/admin/dashboard_api/case/disputed-rules/"

    def test_the_rule_that_is_wrong_most_often_is_first(self, analyst, link):
        acts = {"disagree": ["a", "c"], "agree": ["a", "b", ""]}
        for act, rule in ((act, rule) for act, rules in acts.items() for rule in rules):
            several = [make_finding(link.website, rule=rule) for _ in range(2)]
            close(dispute(link, *several), act)
        dispute(link, make_finding(link.website, rule="d"))
        response = analyst.get(self.ADDRESS)
        names = ("rule", "disputes", "agreed", "share")
        assert [tuple(row[name] for name in names) for row in response.context["rows"]] == [
            ("b", 1, 1, 100),
            ("a", 2, 1, 50),
            ("c", 1, 0, 0),
        ]

    def test_it_leads_to_a_filled_form_of_a_suppression_rule(self, analyst, link):
        source = make_source("far", pk=12_345)  # no thousands separator in an address
        finding = make_finding(link.website, source=source, rule="a&b=c d", severity=Severity.LOW)
        close(dispute(link, finding), "agree")
        page = analyst.get(self.ADDRESS).text
        address = page.partition('href="/admin/dashboard_api/standingdecision/add/')[2].partition('"')[0]
        form = analyst.get(f"/admin/dashboard_api/standingdecision/add/{address.replace('&amp;', '&')}")
        assert 'value="a&amp;b=c d"' in form.text
        assert f'<option value="{finding.source_id}" selected>' in form.text

    def test_several_rules_in_one_dispute_count_once_each(self, analyst, link):
        findings = [make_finding(link.website, rule=rule) for rule in ("a", "a", "b")]
        close(dispute(link, *findings), "agree")
        rows = analyst.get(self.ADDRESS).context["rows"]
        assert [(row["rule"], row["disputes"]) for row in rows] == [("a", 1), ("b", 1)]


class TestPermissions:
    PAGES = (URL, TestSaidToBeFixed.ADDRESS, TestDisputedRules.ADDRESS, "/admin/dashboard_api/case/")

    def test_without_the_permission_no_page_is_shown(self, staff, link, finding):
        case = ask(link, finding, text="Only for analysts")
        client = staff("view_finding", "change_finding")
        for address in (*self.PAGES, reverse("admin:dashboard_api_case_change", args=[case.pk])):
            response = client.get(address)
            assert (response.status_code, b"Only for analysts" in response.content) == (403, False)
        assert decide(client, case, "reply").status_code == 403
        assert URL not in client.get("/admin/").text

    def test_staff_who_may_only_view_read_everything_and_decide_nothing(self, staff, link, finding):
        case = ask(link, finding, text="How can we fix it?")
        answer(link, make_finding(link.website), act="fixed")
        client = staff("view_case")
        page = client.get(URL).text
        assert "How can we fix it?" in page
        assert "<textarea" not in page
        assert "data-key" not in page
        assert decide(client, case, "reply").status_code == 403
        for address in self.PAGES:
            text = client.get(address).text
            assert "Shop Ltd" not in text
            assert "acct_0001" not in text
        assert f'href="{URL}"' in client.get("/admin/").text

    def test_nothing_can_be_written_on_the_record_of_a_case(self, analyst, link, finding):
        case = ask(link, finding)
        address = reverse("admin:dashboard_api_case_change", args=[case.pk])
        assert analyst.post(address, {"kind": "dispute"}).status_code == 403
        assert analyst.get("/admin/dashboard_api/case/add/").status_code == 403

    def test_members_and_visitors_are_led_to_the_sign_in(self, client, link, finding):
        case = ask(link, finding)
        for user in (None, make_user("owner")):
            if user:
                client.force_login(user)
            assert client.get(URL).status_code == 302
            assert decide(client, case, "reply").status_code == 302
        assert list(Case.objects.open()) == [case]
