"""Standing decisions in the admin: previewed, begun, and ended."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.urls import reverse

from dashboard_api.models import Finding, Severity, StandingDecision
from tests.factories import (
    make_finding,
    make_link,
    make_source,
    make_standing_decision,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db
ADD = reverse("admin:dashboard_api_standingdecision_add")
LIST = reverse("admin:dashboard_api_standingdecision_changelist")


@pytest.fixture
def operator(client):
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def finding():
    return make_finding(make_link().website, rule="exposed-panel", severity=Severity.HIGH)


def answers(finding, **fields):
    return {
        "source": finding.source_id,
        "rule": "exposed-panel",
        "website": "",
        "severity": "1",
        "reason": "Behind a <VPN>",
    } | fields


def begin(client, finding, **fields):
    return client.post(ADD, answers(finding, confirmed="Decide", **fields), follow=True)


def end(client, decision, **fields):
    data = {"action": "end", "_selected_action": decision.pk} | fields
    return client.post(LIST, data, follow=True)


def test_the_form_shows_what_it_would_change_and_changes_nothing(operator, finding):
    page = operator.post(ADD, answers(finding))
    assert "Nuclei, exposed-panel on all websites: Low." in page.text
    assert "Behind a &lt;VPN&gt;" in page.text
    words = " ".join(page.text.split())
    assert "This changes: 1 finding, 1 website; 1 customer can see this." in words
    assert not StandingDecision.objects.exists()
    changed = operator.post(ADD, answers(finding, change="Change it"))
    assert 'name="reason" value="Behind a &lt;VPN&gt;"' in changed.text


def test_a_decision_begins_after_the_confirmation_in_the_name_of_the_operator(operator, finding):
    response = begin(operator, finding)
    assert "Nuclei, exposed-panel on all websites: Low. Changed findings: 1." in response.text
    decision = StandingDecision.objects.get()
    assert (decision.by, decision.reason) == ("ada", "Behind a <VPN>")
    finding.refresh_from_db()
    assert finding.severity == Severity.LOW
    assert LogEntry.objects.get().object_id == str(decision.pk)
    page = operator.get(reverse("admin:dashboard_api_standingdecision_change", args=[decision.pk])).text
    assert 'value="end"' in page


def test_without_a_rule_lower_findings_are_accepted_on_the_website_alone(operator, finding):
    other = make_finding(make_website("blog.example.com"), severity=Severity.LOW)
    begin(operator, finding, rule="", severity="4", website=finding.website_id)
    finding.refresh_from_db()
    other.refresh_from_db()
    assert (finding.status, other.status) == ("accepted_risk", "open")
    assert "lower findings are accepted risks" in operator.get(LIST).text


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"reason": " "}, "This field is required"),
        ({"severity": "9"}, "Select a valid choice"),
        ({"source": "99"}, "Select a valid choice"),
        ({"rule": "x" * 301}, "at most 300"),
    ],
)
def test_a_wrong_form_decides_nothing(operator, finding, fields, refusal):
    assert refusal in begin(operator, finding, **fields).text
    assert not StandingDecision.objects.exists()


def test_a_second_decision_about_the_same_is_refused_in_the_form(operator, finding):
    begin(operator, finding)
    page = operator.post(ADD, answers(finding, severity="2"))
    assert page.text.count("There is a decision about this already: end it first.") == 1
    begin(operator, finding, severity="2")
    assert StandingDecision.objects.get().severity == Severity.LOW


def test_a_decision_ends_with_a_reason_and_takes_back_what_it_changed(operator, finding):
    begin(operator, finding)
    decision = StandingDecision.objects.get()
    assert "the scanner&#x27;s severity again" in end(operator, decision).text
    assert "This field is required" in end(operator, decision, confirmed="True", reason="").text
    end(operator, decision, confirmed="True", reason="The VPN is gone")
    decision.refresh_from_db()
    assert (decision.ended_by, decision.end_reason) == ("ada", "The VPN is gone")
    finding.refresh_from_db()
    assert finding.severity == Severity.HIGH
    assert finding.events.last().reason == "Low to High: The VPN is gone"
    page = operator.get(reverse("admin:dashboard_api_standingdecision_change", args=[decision.pk])).text
    assert 'value="end"' not in page
    assert "Nothing to do" in end(operator, decision).text


def test_the_list_shows_active_or_ended_decisions(operator, finding):
    active = make_standing_decision()
    ended = make_standing_decision(
        rule="other", ended_at=active.created_at, ended_by="ada", end_reason="Gone"
    )

    def listed(state):
        return list(operator.get(LIST, {"ended_at__isempty": state} if state else {}).context["cl"].queryset)

    assert (listed("1"), listed("0"), len(listed(""))) == ([active], [ended], 2)


def test_only_staff_with_the_permissions_begin_and_end_decisions(client, operator, finding):
    begin(operator, finding)
    decision = StandingDecision.objects.get()
    grace = make_user("grace", is_staff=True)
    client.force_login(grace)
    assert client.get(LIST).status_code == client.get(ADD).status_code == 403
    grace.user_permissions.set(Permission.objects.filter(codename="view_standingdecision"))
    assert client.get(LIST).status_code == 200
    assert begin(client, finding, rule="other").status_code == 403
    end(client, decision, confirmed="True", reason="No")
    assert StandingDecision.objects.active().get() == decision
    grace.user_permissions.set(
        Permission.objects.filter(codename__in=["view_standingdecision", "change_standingdecision"])
    )
    end(client, decision, confirmed="True", reason="Yes")
    assert not StandingDecision.objects.active().exists()
    assert Finding.objects.get().severity == Severity.HIGH


def test_the_source_of_a_decision_is_never_deleted(operator, finding):
    begin(operator, finding)
    path = reverse("admin:dashboard_api_source_delete", args=[make_source().pk])
    operator.post(path, {"post": "yes"})
    assert StandingDecision.objects.exists()
