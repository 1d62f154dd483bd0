"""decide_rule: ratings by rule and minimum severities, from the shell."""

import pytest
from django.core.management.base import CommandError

from dashboard_api.models import Finding, Severity, StandingDecision
from tests.commands import run, run_json
from tests.factories import make_finding, make_link, make_source, make_website

pytestmark = pytest.mark.django_db
RULE = ("--rule", "exposed-panel")
REASON = ("--reason", "Behind a VPN", "--by", "Ada")


@pytest.fixture
def finding():
    return make_finding(make_link().website, rule="exposed-panel", severity=Severity.HIGH)


def test_a_rule_is_rated_once(finding):
    arguments = ("nuclei", *RULE, "--severity", "Low", *REASON)
    assert run_json("decide_rule", *arguments, "--dry-run")["changed"] is False
    assert not StandingDecision.objects.exists()

    fields = {"source": "nuclei", "rule": "exposed-panel", "host": None, "severity": "Low"}
    reached = {"findings": 1, "websites": 1, "accounts": 1}
    assert run_json("decide_rule", *arguments) == fields | reached | {"changed": True}
    finding.refresh_from_db()
    assert finding.severity == Severity.LOW
    assert StandingDecision.objects.get().by == "Ada"

    again = run_json("decide_rule", *arguments)
    assert again == fields | dict.fromkeys(reached, 0) | {"changed": False}
    assert finding.events.count() == 1


def test_a_floor_is_set_for_a_website_and_ended(finding):
    output = run("decide_rule", "nuclei", "--floor", "Critical", "--host", "Shop.Example.com", *REASON)
    assert output == (
        "Nuclei on shop.example.com: below Critical is an accepted risk. "
        "Changed findings: 1, on websites: 1, of accounts: 1.\n"
    )
    finding.refresh_from_db()
    assert finding.status == "accepted_risk"

    end = ("decide_rule", "nuclei", "--host", "shop.example.com", "--end", "--reason", "Contract changed")
    fields = run_json(*end)
    assert (fields["changed"], fields["findings"], fields["severity"]) == (True, 1, "Critical")
    finding.refresh_from_db()
    assert finding.status == "open"
    assert run_json(*end)["changed"] is False
    assert "Nothing changed" in run(*end)


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["zap", "--floor", "Low", *REASON], "There is no scanner zap; there are: nuclei"),
        (["nuclei", *REASON], "either --rule with --severity, or --floor"),
        (["nuclei", *RULE, *REASON], "either --rule with --severity, or --floor"),
        (["nuclei", "--severity", "Low", *REASON], "either --rule with --severity, or --floor"),
        (["nuclei", *RULE, "--floor", "Low", *REASON], "either --rule with --severity, or --floor"),
        (["nuclei", "--floor", "Low", "--end", *REASON], "Give --end with"),
        (["nuclei", "--floor", "Lowest", *REASON], "invalid choice"),
        (["nuclei", "--floor", "Low", "--host", "blog.example.com", *REASON], "There is no website blog"),
        (["nuclei", "--floor", "Low"], "required: --reason"),
        (["nuclei", "--floor", "Low", "--reason", " "], "reason: "),
    ],
)
def test_what_cannot_be_decided_is_refused_with_advice(finding, arguments, refusal):
    with pytest.raises(CommandError, match=refusal):
        run("decide_rule", *arguments)
    assert not StandingDecision.objects.exists()


def test_another_severity_needs_the_end_of_the_first_decision(finding):
    run("decide_rule", "nuclei", "--floor", "Low", *REASON)
    with pytest.raises(CommandError, match=r"below Low is an accepted risk.*end it first with --end"):
        run("decide_rule", "nuclei", "--floor", "High", *REASON)


def test_a_decision_that_was_interrupted_is_completed_by_repeating_it():
    source, website = make_source(), make_website()
    StandingDecision.objects.create(source=source, severity=Severity.HIGH, reason="Noise", by="Ada")
    make_finding(website, severity=Severity.LOW)
    fields = run_json("decide_rule", "nuclei", "--floor", "High", *REASON)
    assert (fields["changed"], fields["findings"]) == (False, 1)
    assert Finding.objects.get().status == "accepted_risk"
