"""Reports of several targets, parts and checks of one website: each closes only what it looked for."""

import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard_api import limits
from dashboard_api.decisions import triage
from dashboard_api.importing import scopes
from dashboard_api.importing.ended_decisions import expire_triage
from dashboard_api.importing.scopes import Scope, Targets
from dashboard_api.importing.service import RefusedReport
from dashboard_api.models import Coverage, Finding, FindingEvent, Occurrence
from dashboard_api.queries import change_feed
from dashboard_api.scanners import read_report
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners import samples
from tests.dashboard_api.scanners.samples import (
    FORMATS,
    FORMS,
    MAIL,
    OTHER_PORTS,
    OWN,
    SHARED,
    WWW,
    greenbone_report,
    json_lines,
    nikto_report,
    nuclei_report,
    report_of_testssl,
    sarif_report,
    suites,
    wapiti_report,
    zap_report,
)
from tests.factories import make_finding, make_website

pytestmark = pytest.mark.django_db
START = datetime(2026, 3, 1, tzinfo=UTC)
REPORTS = {name: entry.report for name, entry in FORMATS.items()}
REPORTS |= {
    form: lambda *scan, make=make, of=FORMATS[name].report: make(of(*scan))
    for form, (name, make) in FORMS.items()
}
every_format = pytest.mark.parametrize("name", REPORTS)


class Scans:
    """Complete scans of one website, each an hour after the one before."""

    def __init__(self):
        self.website = make_website()
        self.now = START

    def bring(self, data, **options):
        self.now += timedelta(hours=1)
        options = {
            "complete": True,
            "scanned_at": self.now,
            "base_url": "https://shop.example.com/",
        } | options
        result = import_bytes(data, self.website, **options)
        assert result.rows == result.findings + result.occurrences + result.coverage + result.rejected
        assert result.rejected == 0
        return result


@pytest.fixture
def scans():
    return Scans()


def changes(results):
    return [(result.new, result.reopened, result.fixed) for result in results]


@every_format
def test_two_targets_scanned_in_turn_never_close_each_others_findings(scans, name):
    reports = [REPORTS[name](WWW, [SHARED, OWN]), REPORTS[name](MAIL, [SHARED])]
    assert changes(map(scans.bring, reports)) == [(2, 0, 0), (0, 0, 0)]
    newest = change_feed.newest(scans.website.pk)
    for _ in range(9):
        assert changes(map(scans.bring, reports)) == [(0, 0, 0)] * 2
    assert not FindingEvent.objects.exists()
    assert change_feed.newest(scans.website.pk) == newest  # no news, so no e-mail
    assert Finding.objects.filter(status="open").count() == 2
    assert not Occurrence.objects.exclude(gone_at=None).exists()


@pytest.mark.parametrize("fixed_by", ["scans", "an analyst"])
def test_a_finding_that_is_found_again_at_one_target_is_not_shown_at_the_other(scans, fixed_by):
    for host in (WWW, MAIL):
        scans.bring(nuclei_report(host, [SHARED]))
    if fixed_by == "an analyst":
        by = {"by": "ada", "reason": "We looked."}
        triage.decide(Finding.objects.get(), "fixed", now=scans.now + timedelta(minutes=1), **by)
    for host in (WWW, MAIL):
        scans.bring(nuclei_report(host, [OWN]))
    assert Finding.objects.get(rule=SHARED).status == "fixed"
    assert scans.bring(nuclei_report(MAIL, [SHARED]), complete=False).reopened == 1
    finding = Finding.objects.get(rule=SHARED)
    assert (finding.status, finding.locations_count, finding.other_locations) == ("open", 1, "")
    present = Occurrence.objects.filter(finding=finding, gone_at=None)
    assert [MAIL in each.location for each in present] == [True]
    assert scans.bring(nuclei_report(MAIL, [OWN])).fixed == 1


@pytest.mark.parametrize("fixed_by", ["a scan", "an analyst"])
def test_a_scan_of_another_target_never_fixes_what_an_analyst_reopened(scans, fixed_by):
    scans.bring(nuclei_report(WWW, [SHARED, OWN]))
    by = {"by": "ada", "reason": "We looked."}
    if fixed_by == "a scan":
        scans.bring(nuclei_report(WWW, [SHARED]))
    else:
        triage.decide(Finding.objects.get(rule=OWN), "fixed", now=scans.now + timedelta(minutes=1), **by)
    triage.reopen(Finding.objects.get(rule=OWN), now=scans.now + timedelta(minutes=2), **by)
    assert scans.bring(nuclei_report(MAIL, [SHARED])).fixed == 0
    assert scans.bring(nuclei_report(WWW, [SHARED])).fixed == 1


@every_format
def test_a_problem_that_is_gone_from_one_target_goes_there_alone(scans, name):
    for host, problems in ((WWW, [SHARED, OWN]), (MAIL, [SHARED])):
        scans.bring(REPORTS[name](host, problems))
    assert scans.bring(REPORTS[name](WWW, [SHARED])).fixed == 1
    fixed = Finding.objects.get(status="fixed")
    assert fixed.fixed_at == scans.now
    assert FindingEvent.objects.get().finding == fixed
    assert scans.bring(REPORTS[name](MAIL, [SHARED])).fixed == 0
    assert changes([scans.bring(REPORTS[name](WWW, [SHARED, OWN]))]) == [(0, 1, 0)]


@every_format
def test_a_problem_of_two_targets_is_fixed_once_it_is_gone_from_both(scans, name):
    for host in (WWW, MAIL):
        scans.bring(REPORTS[name](host, [SHARED, OWN]))
    assert scans.bring(REPORTS[name](WWW, [OWN])).fixed == 0
    shared = Finding.objects.exclude(locations_count=2).get()
    assert (shared.status, shared.locations_count, MAIL in shared.location) == ("open", 1, True)
    assert shared.occurrences.get(gone_at=scans.now).location != shared.location
    assert scans.bring(REPORTS[name](MAIL, [OWN])).fixed == 1
    shared.refresh_from_db()
    assert (shared.status, shared.fixed_at) == ("fixed", scans.now)
    assert FindingEvent.objects.get().finding == shared


@pytest.mark.parametrize("name", [name for name in REPORTS if name != "sarif"])
def test_a_report_of_a_target_that_found_nothing_closes_what_was_there(scans, name):
    for host in (WWW, MAIL):
        scans.bring(REPORTS[name](host, [SHARED]))
    data = REPORTS[name](WWW, [])
    options = {} if name in FORMS or FORMATS[name].names_target else {"targets": [WWW]}
    options |= {} if data else {"format_name": name}  # an empty file does not show its format
    assert scans.bring(data, **options).fixed == 0
    assert WWW in Occurrence.objects.get(gone_at=scans.now).location


def test_an_empty_report_without_targets_is_about_the_websites_own_host(scans):
    for host in (WWW, "shop.example.com"):
        scans.bring(nuclei_report(host, [SHARED]))
    result = scans.bring(b"", format_name="nuclei")
    assert (result.targets, "names no target" in result.note) == (("shop.example.com",), True)
    assert Occurrence.objects.get(gone_at=scans.now).location == "https://shop.example.com/"


NOTHING_SCANNED = {
    "greenbone": samples.make_greenbone(hosts=()),
    "zap": json.dumps(samples.make_zap_report() | {"site": []}).encode(),
}


@pytest.mark.parametrize("name", NOTHING_SCANNED)
def test_a_report_that_would_name_what_it_scanned_and_names_nothing_fixes_nothing(scans, name):
    scans.bring(REPORTS[name]("shop.example.com", [SHARED]))
    with pytest.raises(RefusedReport, match="names nothing that was scanned"):
        scans.bring(NOTHING_SCANNED[name])
    assert Finding.objects.get().status == "open"
    assert scans.bring(NOTHING_SCANNED[name], targets=["shop.example.com"]).fixed == 1


# Parts of one repository: the same tool, and one thing or another that differs

LANGUAGES = {"csharp": "cs", "ruby": "rb", "python": "py", "typescript": "ts"}
DIFFERING = ("category", "category without a slash", "category by the operator", "rules", "files")


def part(language, differing, problems=("a", "b", "c"), day=1):
    """A run about one language; files and rules are the same for all of them, unless these differ."""
    suffix = LANGUAGES[language]
    rule = f"{suffix}/injection" if differing == "rules" else "injection"
    results = []
    for problem in problems:
        uri = f"src/{problem}.{suffix}" if differing == "files" else f"src/{problem}"
        place = [{"physicalLocation": {"artifactLocation": {"uri": uri}}}]
        known = {"fingerprints": {"v1": f"{language} {problem}"}}
        results.append(samples.make_result(ruleId=rule, locations=place, **known))
    details = {
        "category": {"automationDetails": {"id": f"codeql/{language}/2026-03-{day:02}"}},
        "category without a slash": {"automationDetails": {"id": language}},
    }
    members = {"invocations": [{"executionSuccessful": True}]} | details.get(differing, {})
    tool = {"driver": {"name": "CodeQL", "rules": [{"id": rule}]}}
    report = json.dumps(samples.make_sarif(*results, tool=tool, **members)).encode()
    return report, {"category": language} if differing == "category by the operator" else {}


@pytest.mark.parametrize("differing", DIFFERING)
def test_the_parts_of_a_repository_never_close_each_others_findings(scans, differing):
    for day in range(1, 5):
        for language in LANGUAGES:
            report, options = part(language, differing, day=day)
            result = scans.bring(report, **options)
            assert (result.new, result.reopened, result.fixed) == (3 if day == 1 else 0, 0, 0)
    report, options = part("ruby", differing, ("a", "c"), day=5)
    assert scans.bring(report, **options).fixed == 1
    assert (
        Finding.objects.get(status="fixed")
        .occurrences.get()
        .location.startswith("https://shop.example.com/src/b")
    )


def test_a_tool_without_category_that_is_run_as_a_whole_closes_what_is_gone(scans):
    scans.bring(part("ruby", "files")[0])
    assert scans.bring(part("ruby", "files", ("b",))[0]).fixed == 2
    assert scans.bring(part("ruby", "files", ())[0]).fixed == 1
    assert scans.bring(part("ruby", "files", ("b",))[0]).reopened == 1


def test_an_empty_run_that_may_be_any_part_closes_nothing_and_says_so(scans):
    for language in ("ruby", "python"):
        scans.bring(part(language, "files")[0])
    result = scans.bring(part("ruby", "files", ())[0])
    assert (result.fixed, result.targets, "name its category" in result.note) == (0, (), True)
    assert scans.bring(part("ruby", "files", ())[0], category="part 2").fixed == 3


def test_runs_of_several_categories_in_one_file_are_a_report_of_each(scans):
    runs = [json.loads(part(language, "category")[0])["runs"][0] for language in ("ruby", "python")]
    data = json.dumps({"version": "2.1.0", "runs": runs}).encode()
    first = read_report(io.BytesIO(data))
    assert [each.category for each in (first, *first.others)] == ["codeql/ruby", "codeql/python"]


# One target at a time, said to be complete


def test_zap_of_the_shop_and_then_of_the_blog_leaves_both_open(scans):
    shop, blog = (zap_report(f"{name}.shop.example.com", [name]) for name in ("shop", "blog"))
    assert changes(map(scans.bring, (shop, blog, shop, blog))) == [(1, 0, 0), (1, 0, 0), (0, 0, 0), (0, 0, 0)]


def test_a_site_of_zap_without_alerts_was_scanned_too(scans):
    scans.bring(zap_report(WWW, [SHARED]))
    scans.bring(zap_report(MAIL, [OWN]))
    sites = [{"@name": f"https://{WWW}"}, json.loads(zap_report(MAIL, [OWN]))["site"][0]]
    assert scans.bring(json.dumps(samples.make_zap_report(site=sites)).encode()).fixed == 1


def test_a_port_is_a_target_of_its_own(scans):
    scans.bring(nuclei_report(f"{WWW}:8443", [SHARED]))
    assert scans.bring(nuclei_report(WWW, [OWN])).fixed == 0
    assert scans.bring(nuclei_report(WWW, [OWN]), targets=[f"{WWW}:8443"]).fixed == 1


def test_a_result_of_dns_covers_no_port_if_other_results_name_ports(scans):
    scans.bring(nuclei_report(f"{WWW}:8443", [SHARED]))
    dns = samples.make_row(template_id="dns", matched_at=WWW)
    at_443 = samples.make_row(template_id=OWN, matched_at=f"https://{WWW}/")
    assert scans.bring(json_lines(dns, at_443)).fixed == 0
    assert scans.bring(json_lines(at_443)).fixed == 1  # the name of DNS
    assert scans.bring(json_lines(dns, at_443), targets=[WWW]).fixed == 1


def test_a_report_with_results_of_dns_alone_is_about_the_whole_host(scans):
    scans.bring(nuclei_report(WWW, [SHARED]))
    assert scans.bring(json_lines(samples.make_row(template_id="dns", matched_at=WWW))).fixed == 1


def nmap_scripts(services, *ports):
    host = samples.make_nmap_host(OTHER_PORTS, *ports)
    return samples.make_nmap(host, services=services, args=f"nmap --script vuln -p {services} a")


def poodle_at_443():
    table = samples.make_nmap_table("CVE-2014-3566", title="SSL POODLE", state="VULNERABLE")
    return samples.make_nmap_port("443", samples.make_nmap_script("ssl-poodle", table))


def test_what_a_script_found_at_a_port_is_fixed_by_a_scan_of_this_port_alone(scans):
    scans.bring(nmap_scripts("443", poodle_at_443()))
    assert scans.bring(nmap_scripts("22,25", samples.make_nmap_port("22"))).fixed == 0
    result = scans.bring(nmap_scripts("440-450"))
    assert (result.fixed, Finding.objects.get(status="open").rule) == (2, "tcp/22")


def test_a_scan_over_ipv4_fixes_nothing_that_one_over_ipv6_found(scans):
    def scan(args, *ports):
        host = samples.make_nmap_host(OTHER_PORTS, *ports)
        return scans.bring(samples.make_nmap(host, args=args))

    scan("nmap -6 a", samples.make_nmap_port("8443"))
    assert scan("nmap a").fixed == 0
    assert scan("nmap -6 a").fixed == 1


def test_a_scan_of_other_ports_closes_nothing_when_a_decision_ends(scans):
    scans.bring(nmap_scripts("443", poodle_at_443()))
    Finding.objects.update(status="accepted_risk", triage_until=scans.now.date() - timedelta(days=1))
    scans.bring(nmap_scripts("22,25"))
    assert expire_triage(scans.now) == Finding.objects.filter(status="open").count() == 2


# Checks that failed or did not run


def sslyze_with(host, **commands):
    """A report where each of ``commands`` is a status, or offers a suite."""
    report = samples.make_sslyze(
        host, **{name: suites(*["TLS_A"] * (each is True)) for name, each in commands.items()}
    )
    for name, each in commands.items():
        if isinstance(each, str):
            report["server_scan_results"][0]["scan_result"][name] |= {"status": each, "result": None}
    return json.dumps(report).encode()


TLS_1_0, TLS_1_1 = "tls_1_0_cipher_suites", "tls_1_1_cipher_suites"


@pytest.mark.parametrize("status", ["ERROR", "NOT_SCHEDULED"])
def test_a_check_that_did_not_run_keeps_its_own_findings_alone(scans, status):
    scans.bring(sslyze_with(WWW, **{TLS_1_0: True, TLS_1_1: True}))
    result = scans.bring(sslyze_with(WWW, **{TLS_1_0: status, TLS_1_1: False}))
    assert (result.fixed, result.state) == (1, "partial" if status == "ERROR" else "ok")
    assert Finding.objects.get(status="open").rule == "tls_1_0"


def test_a_test_of_greenbone_that_timed_out_keeps_its_own_finding(scans):
    scans.bring(greenbone_report(WWW, [SHARED, OWN]))
    names, errors = [("192.0.2.7", WWW)], [("192.0.2.7", OWN)]
    assert scans.bring(samples.make_greenbone(names=names, errors=errors)).fixed == 1
    assert Finding.objects.get(status="open").rule == OWN


def test_a_target_that_was_not_reached_keeps_its_findings(scans):
    both = [json.loads(sslyze_with(host, **{TLS_1_0: True, TLS_1_1: True})) for host in (WWW, MAIL)]
    servers = [report["server_scan_results"][0] for report in both]
    scans.bring(json.dumps(both[0] | {"server_scan_results": servers}).encode())
    servers[0]["scan_result"] = None
    servers[1]["scan_result"] |= json.loads(sslyze_with(MAIL, **{TLS_1_0: False}))["server_scan_results"][0][
        "scan_result"
    ]
    assert scans.bring(json.dumps(both[0] | {"server_scan_results": servers}).encode()).fixed == 0
    assert MAIL in Occurrence.objects.get(gone_at=scans.now).location


def test_a_rule_that_the_report_does_not_list_keeps_its_findings(scans):
    scans.bring(sarif_report(WWW, [SHARED, OWN]))
    document = json.loads(sarif_report(WWW, [OWN]))
    document["runs"][0]["tool"]["driver"]["rules"] = [{"id": OWN}]
    assert scans.bring(json.dumps(document).encode()).fixed == 0


def test_a_detail_of_a_check_is_gone_when_the_check_finds_nothing(scans):
    document = json.loads(report_of_testssl(WWW, []))
    detail = samples.make_entry(id="BEAST_CBC_TLS1", ip=f"{WWW}/192.0.2.7")
    whole = samples.make_entry(id="BEAST", ip=f"{WWW}/192.0.2.7", severity="OK")
    scans.bring(json.dumps([*document, detail]).encode())
    assert scans.bring(json.dumps(document).encode()).fixed == 0
    assert scans.bring(json.dumps([*document, whole]).encode()).fixed == 1


# Findings with only some of their locations in the report


def systemic(*paths):
    instances = [{"uri": f"https://{WWW}{path}"} for path in paths]
    alerts = [samples.make_zap_alert(alertRef="header", instances=instances, systemic=True)] if paths else []
    site = {"@name": f"https://{WWW}", "alerts": alerts}
    return json.dumps(samples.make_zap_report(site=[site])).encode()


@pytest.mark.parametrize("limit", [3, limits.MAX_OCCURRENCES])
def test_a_sampled_problem_loses_no_place_until_it_is_gone_as_a_whole(scans, monkeypatch, limit):
    monkeypatch.setattr(limits, "MAX_OCCURRENCES", limit)
    for paths in (("/a", "/b"), ("/b", "/c"), ("/d",)):
        scans.bring(systemic(*paths))
    assert Finding.objects.get().locations_count == 4
    assert scans.bring(systemic()).fixed == 1


# What is known of a problem at many places, and of one without any


def test_a_problem_at_very_many_places_is_left_from_one_target_alone(scans, monkeypatch):
    monkeypatch.setattr(limits, "MAX_OCCURRENCES", 4)
    reports = {}
    for host in (WWW, MAIL):
        instances = [{"uri": f"https://{host}/{number}"} for number in range(3)]
        alert = samples.make_zap_alert(alertRef=SHARED, instances=instances)
        site = {"@name": f"https://{host}", "alerts": [alert]}
        reports[host] = json.dumps(samples.make_zap_report(site=[site])).encode()
        scans.bring(reports[host])
    assert Finding.objects.get().locations_count == 6  # of which 4 are stored
    scans.bring(zap_report(WWW, [SHARED]))
    gone = Occurrence.objects.filter(gone_at=scans.now).values_list("location", flat=True)
    assert sorted(gone) == [f"https://{WWW}/{number}" for number in range(3)]
    scans.bring(reports[MAIL])  # now there is room for all of its locations
    assert Finding.objects.get().locations_count == 4


def test_a_finding_without_occurrences_is_at_its_own_location(scans):
    old = {"first_seen": START, "last_seen": START}
    for host in (WWW, MAIL):
        make_finding(scans.website, location=f"https://{host}/a", **old)
    assert scans.bring(nuclei_report(WWW, [SHARED])).fixed == 1
    assert WWW in Finding.objects.get(status="fixed").location


def test_the_last_place_of_a_problem_may_go_by_an_older_report(scans):
    for host in (WWW, MAIL):
        scans.bring(wapiti_report(host, [SHARED]))
    scans.bring(wapiti_report(WWW, []), scanned_at=START + timedelta(days=2))
    assert scans.bring(wapiti_report(MAIL, []), scanned_at=START + timedelta(days=1)).fixed == 1
    assert Finding.objects.get().fixed_at == START + timedelta(days=2)


def test_a_place_that_was_fixed_before_the_problem_came_back_elsewhere_does_not_keep_it_open(scans):
    for problems in ([SHARED], []):
        scans.bring(nikto_report(MAIL, problems))
    assert changes(scans.bring(nikto_report(WWW, problems)) for problems in ([SHARED], [])) == [
        (0, 1, 0),
        (0, 0, 1),
    ]


# Any scans of two targets, in any order, against what anybody would expect of them

scans_in_any_order = st.lists(
    st.tuples(
        st.sampled_from([WWW, MAIL]),
        st.sets(st.sampled_from([SHARED, OWN])),
        st.sampled_from(["complete", "partial", "of category x"]),
    ),
    max_size=8,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scans_in_any_order)
def test_a_finding_is_open_as_long_as_one_target_may_have_it(scans, rounds):
    Finding.objects.all().delete()
    Coverage.objects.all().delete()
    seen_by, is_open = {}, {}  # by problem and target, the category; by problem
    for host, problems, kind in rounds:
        category = "x" if kind == "of category x" else ""
        for key in [key for key, last in seen_by.items() if key[1] == host and last == category]:
            if kind != "partial" and key[0] not in problems:
                del seen_by[key]
        seen_by |= {(problem, host): category for problem in problems}
        is_open |= {problem: problem in {each for each, _ in seen_by} for problem in is_open}
        is_open |= dict.fromkeys(problems, True)
        options = {"complete": kind != "partial", "category": category}
        scans.bring(nikto_report(host, sorted(problems)), **options)
    statuses = Finding.objects.values_list("rule", "status")
    assert dict(statuses) == {problem: "open" if there else "fixed" for problem, there in is_open.items()}


def test_more_failed_checks_with_names_than_the_limit_are_about_every_rule(monkeypatch):
    monkeypatch.setattr(scopes, "_MAX_NAMED_FAILURES", 2)
    scope = Scope(targets=Targets(["a:443"]))
    scope.add_failure("a:443", ("one", "two"))
    assert scope.covers(rule="three", location="https://a/", category="")
    scope.add_failure("a:443", ("one",))
    assert not scope.covers(rule="three", location="https://a/", category="")
