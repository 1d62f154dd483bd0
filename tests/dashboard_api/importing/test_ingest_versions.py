"""Stored findings after a report by a newer version of a scanner, or a report without a time."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from dashboard_api.importing.staging import fingerprint_of
from dashboard_api.models import Finding
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import (
    make_entry,
    make_item,
    make_nikto,
    make_result,
    make_sarif,
    make_sslyze,
    make_zap_alert,
    make_zap_report,
)
from tests.dashboard_api.scanners.testssl.test_versions import BY_3_0, BY_3_2, entries
from tests.factories import make_website

pytestmark = pytest.mark.django_db
MARCH = datetime(2026, 3, 2, tzinfo=UTC)


def bring(website, document, *, days=0, **options):
    data = json.dumps(document).encode()
    return import_bytes(data, website, scanned_at=MARCH + timedelta(days=days), **options)


def test_certificate_is_judged_as_of_the_time_that_the_operator_says():
    leaf = {"not_valid_after": "2026-03-10T00:00:00Z"}
    info = {"certificate_deployments": [{"received_certificate_chain": [leaf]}]}
    bring(make_website(), make_sslyze(certificate_info=info), days=30)
    assert Finding.objects.get().title == "The certificate has expired"


def test_newer_version_of_testssl_closes_nothing_and_opens_only_what_is_new():
    whole = [(name, "OK", "x") for name in ("TLS1_2", "cipherlist_NULL", "heartbleed")]
    website = make_website()
    for days, rows in enumerate([BY_3_0, BY_3_2]):
        result = bring(website, entries(*rows, *whole, ("scanTime", "INFO", "60")), days=days)
        assert result.state == "ok"
    assert (result.new, result.updated, result.fixed, result.reopened) == (1, 10, 0, 0)


def store_as(source, identity):
    """Give the only finding the identity that it had in an earlier version of the reader."""
    Finding.objects.update(fingerprint=fingerprint_of(source, identity))


def test_finding_under_the_renamed_id_of_testssl_stays_the_same_finding():
    website, rows = make_website(), [make_entry(id="cipherlist_OBSOLETED", finding="offered")]
    bring(website, rows)
    store_as("testssl", ("cipherlist_OBSOLETED",))
    result = bring(website, rows, days=1, complete=True)
    assert (result.new, result.updated, result.fixed) == (0, 1, 0)


@pytest.mark.parametrize("older", [("10038",), ("10038", "CSP: Wildcard Directive")])
def test_alert_of_zap_that_got_a_number_of_its_own_stays_the_same_finding(older):
    website, report = make_website(), make_zap_report(make_zap_alert(pluginid="10038", alertRef="10038-1"))
    bring(website, report)
    store_as("zap", older)
    result = bring(website, report, days=1, complete=True)
    assert (result.new, result.updated, result.fixed) == (0, 1, 0)


def sarif_of(rule, *results, **members):
    return make_sarif(*results, rule={"id": rule} | members, invocations=[{"executionSuccessful": True}])


def test_result_of_a_renamed_rule_of_sarif_stays_the_same_finding_and_can_be_fixed():
    website, renamed = make_website(), {"deprecatedIds": ["old"]}
    options = {"base_url": f"https://{website.host}/", "category": ""}
    hashes = {"partialFingerprints": {"primaryLocationLineHash": "abc:1"}}
    bring(website, sarif_of("old", make_result(ruleId="old/x", **hashes)), **options)
    new = sarif_of("new", make_result(ruleId="new/x", **hashes), **renamed)
    result = bring(website, new, days=1, **options)
    assert (result.new, result.updated, result.fixed) == (0, 1, 0)
    Finding.objects.update(rule="old/x")
    assert bring(website, sarif_of("new", **renamed), days=2, **options).fixed == 1


def test_a_run_under_the_new_id_of_a_sarif_rule_continues_the_part_and_fixes_what_is_gone():
    def results(rule, *names):
        return [
            make_result(
                ruleId=rule,
                fingerprints={"v1": name},
                locations=[
                    {"physicalLocation": {"artifactLocation": {"uri": f"https://{website.host}/{name}"}}}
                ],
            )
            for name in names
        ]

    website = make_website()
    bring(website, sarif_of("old", *results("old", "a", "b")))
    result = bring(website, sarif_of("new", *results("new", "a"), deprecatedIds=["old"]), days=1)
    assert (result.category, result.new, result.updated, result.fixed) == ("", 0, 1, 1)


def test_finding_in_the_own_words_of_nikto_stays_the_same_finding():
    message = "The site uses SSL and the Strict-Transport-Security HTTP header is not defined."
    website, report = make_website(), make_nikto(make_item(id="999970", url="/", msg=message))
    bring(website, report)
    store_as("nikto", ("999970", message))
    result = bring(website, report, days=1, complete=True)
    assert (result.new, result.updated, result.fixed) == (0, 1, 0)
    assert Finding.objects.get().title == "The header Strict-Transport-Security is not sent"
