"""Parts of the domain's check: syntax, and what is unknown when a name server or a page fails."""

import pytest

from dashboard_api.crawler.essentials.domain import mail_encryption, platforms, report, spf_record
from dashboard_api.crawler.essentials.domain.spf_record import WrongRecord
from dashboard_api.crawler.essentials.domain_rules import OF_DOMAIN
from foundation.outbound import name_servers
from tests.dashboard_api.crawler.ground_truth.zones import MTA_STS, serving, zones
from tests.faults.name_servers import RESOLVER
from tests.faults.server import http, send
from tests.foundation.outbound.internet import Internet

ZONES = {zone.name: zone for zone in zones()}
GOOD, TAKEN_OVER = ZONES["good"], ZONES["takeover-github"]
POLICY_RULES = [*mail_encryption.OF_POLICY]


@pytest.fixture
def internet(monkeypatch):
    return Internet(monkeypatch, name_server=RESOLVER)


@pytest.fixture
def served(internet, monkeypatch, settings, tmp_path):
    with serving(internet, tmp_path) as served:
        settings.DNS_RESOLVERS = served.resolvers
        monkeypatch.setattr(name_servers, "_SECONDS", 0.5)
        yield served


def unread(lines):
    """Return reason and rules of each check that failed, in a complete report."""
    assert lines[-1]["complete"] is True
    return [(line["error"], line["rules"]) for line in lines if line.get("error")]


def evidence(lines):
    return {line["finding"]: line["evidence"] for line in lines if "finding" in line}


@pytest.mark.parametrize(
    "terms",
    [
        "a:example.com/24 mx/24//64 a//64 ptr ptr:example.com ?exists:%{ir}.%{l1r-}.example.com",
        "ip4:192.0.2.1 ip4:192.0.2.0/24 ip6:2001:db8::/32 ip6:::ffff:192.0.2.1/128 -all",
        "a:%{d}/24 include:%%%_%-.%{d2} exp=%{h}.example.com redirect=_spf.%{d}",
        "a=b=c unknown= a:foo:bar/baz.example.com mx:foo:bar/baz.example.com/24 ALL",
    ],
)
def test_the_grammar_of_spf_is_read(terms):
    assert spf_record.parse(f"v=spf1 {terms}")


@pytest.mark.parametrize(
    "term",
    [
        *("al", "all:example.com", "all/24", "~", "--all", "-redirect=example.com", "ip4", "ip4:", "ip4/24"),
        *(
            "ip4:192.0.2.1/33",
            "ip4:192.0.2.1/024",
            "ip4:192.0.2.0/255.255.255.0",
            "ip4:2001:db8::1",
            "ip4:1.2.3",
        ),
        *(
            "ip6:192.0.2.1",
            "ip6:2001:db8::/129",
            "include",
            "include:",
            "include:example",
            "include:192.0.2.1",
        ),
        *(
            "exists",
            "a:",
            "a:example.com/33",
            "a/24/64",
            "mx//129",
            "ptr/24",
            "all/0",
            "include/24",
            "a:-example.-com",
            "exp=",
        ),
        *(
            "include:%{x}.example.com",
            "exists:%{r}.example.com",
            "include:%example.com",
            "redirect=example",
            "include:exämple.com",
        ),
        *("redirect=a.example.com redirect=b.example.com", "\tall"),
    ],
)
def test_mistakes_in_spf_are_noticed(term):
    with pytest.raises(WrongRecord):
        spf_record.parse(f"v=spf1 {term}")


def test_each_rule_is_of_a_check_that_may_fail_or_of_the_first_one():
    listed = [rule for check in (*report._OF_MAIL, *report._OF_NAMES) for rule in check.rules]
    assert sorted([*listed, "dnssec-bogus", "dnssec-missing"]) == sorted(OF_DOMAIN)


def test_a_platform_is_known_by_whole_labels():
    known = (
        "user.github.io",
        "b.s3.amazonaws.com",
        "b.s3-website-us-east-1.amazonaws.com",
        "x.vercel-dns-016.com",
    )
    assert all(map(platforms.platform_of, known))
    assert not any(map(platforms.platform_of, ("mygithub.io", "github.io.example.net", "ec2.amazonaws.com")))
    assert len(platforms.PLATFORMS) == 10


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "version"),
        ("version: STSv2\nmode: none\nmax_age: 1", "version"),
        ("version: STSv1\nmode: on\nmax_age: 1", "mode"),
        ("version: STSv1\nmode: none\nmax_age: -1", "max_age"),
        ("version: STSv1\nmode: none\nmax_age: 99999999", "max_age"),
        ("version: STSv1\nmode: testing\nmax_age: 1", "mail servers"),
        ("version STSv1", "name and value"),
    ],
)
def test_a_policy_that_senders_ignore_says_why(text, reason):
    with pytest.raises(mail_encryption.WrongPolicy, match=reason):
        mail_encryption.parse_policy(text)


def test_a_policy_of_no_mode_names_no_servers():
    policy = mail_encryption.parse_policy("version: STSv1\r\nmode: none\r\nmax_age: 86400\r\n")
    assert policy == ("none", ())


def test_a_name_server_of_somebody_else_that_fails_concerns_one_check(served):
    served.name_server.broken = {"mail.example.net"}
    lines = served.lines_of(GOOD)
    assert [reason for reason, _ in unread(lines)] == ["servers_silent"]
    assert "spf-invalid" in unread(lines)[0][1]
    assert evidence(lines) == {}


def test_a_server_in_spf_that_cannot_be_looked_up_hides_no_other_problem(served):
    served.name_server.broken = {"host.example.net"}
    lines = served.lines_of(ZONES["spf-plus-all-behind-two-includes"])
    assert (unread(lines), list(evidence(lines))) == ([], ["spf-allows-everyone"])


def test_the_servers_of_the_domain_are_looked_at_although_a_mail_server_cannot_be(served):
    served.name_server.broken = {"mx1.example.net"}
    lines = served.lines_of(ZONES["name-server-does-not-exist"])
    assert unread(lines) == [("servers_silent", ["mx-dangling"])]
    assert evidence(lines) == {
        "ns-dangling": "example.com has an NS record for ns1.gone.example.org, which does not exist."
    }


def test_a_policy_page_without_a_valid_certificate_is_broken(served):
    found = evidence(served.lines_of(GOOD, tls=None))
    assert list(found) == ["mta-sts-broken"]
    assert "certificate is not valid" in found["mta-sts-broken"]


@pytest.mark.parametrize(
    ("response", "found"),
    [
        (http(301, headers=[("Location", f"http://{MTA_STS}/other")]), ["mta-sts-broken"]),
        (http(301, headers=[("Location", "https://example.net/mta-sts.txt")]), ["mta-sts-broken"]),
        (http(404), ["mta-sts-broken"]),
        (http(500), []),
        (http(429), []),
    ],
    ids=["redirect", "redirect to another domain", "missing", "error", "too many requests"],
)
def test_senders_follow_no_redirect_and_an_error_of_the_server_proves_nothing(
    served, internet, response, found
):
    internet.serve(send(response), port=443, tls=served.tls_of_server)
    lines = served.lines_of(GOOD)
    assert list(evidence(lines)) == found
    assert [rules for _, rules in unread(lines)] == ([] if found else [POLICY_RULES])


@pytest.mark.parametrize(
    ("port", "zone", "rules"), [(443, GOOD, POLICY_RULES), (80, TAKEN_OVER, ["takeover-possible"])]
)
def test_a_page_that_cannot_be_reached_is_not_checked(served, internet, port, zone, rules):
    internet.routes.clear()
    assert ("connect_failed", rules) in unread(served.lines_of(zone))


def test_an_opted_out_host_is_not_asked(served):
    assert unread(served.lines_of(GOOD, never=[MTA_STS])) == [("opted_out", POLICY_RULES)]


@pytest.mark.parametrize(("status", "reason"), [(503, "server_error"), (429, "blocked")])
def test_a_platform_that_does_not_answer_proves_nothing(served, status, reason):
    zone = TAKEN_OVER._replace(pages=TAKEN_OVER.pages | {"http://shop.example.com/": f"{status} Wait"})
    assert unread(served.lines_of(zone)) == [(reason, ["takeover-possible"])]


def test_the_evidence_names_the_platform_and_its_words(served):
    assert evidence(served.lines_of(TAKEN_OVER))["takeover-possible"] == (
        "shop.example.com is a CNAME of user.github.io, where GitHub Pages answers: "
        "“There isn't a GitHub Pages site here.”"
    )


def test_the_evidence_names_the_way_to_a_mistake_behind_an_include(served):
    found = evidence(served.lines_of(ZONES["spf-plus-all-behind-two-includes"]))["spf-allows-everyone"]
    assert found.endswith("example.com > mail.example.net > a.example.net: v=spf1 a:host.example.net all")
    found = evidence(served.lines_of(ZONES["spf-loop-of-three"]))["spf-loop"]
    assert found.endswith("example.com > a.example.net > b.example.net > a.example.net.")


def test_a_record_with_hundreds_of_includes_is_not_followed_to_its_end(served):
    includes = [f'a{number}.example.net TXT "v=spf1 a:host.example.net -all"' for number in range(9)]
    own = " ".join(f"include:a{number % 9}.example.net" for number in range(200))
    kept = [record for record in GOOD.records if not record.startswith("example.com TXT")]
    zone = GOOD._replace(records=[*kept, *includes, f'example.com TXT "v=spf1 {own} -all"'])
    found = evidence(served.lines_of(zone))
    assert found["spf-too-many-lookups"].endswith("Receivers make 10 lookups, and it needs more than 30.")


def test_a_whole_domain_costs_up_to_sixty_queries_and_few_requests(served, internet):
    served.lines_of(ZONES["takeover-of-www"])
    assert served.name_server.asked <= 60
    assert len([to for to in internet.connected if to[1] in (80, 443)]) <= 3


def test_the_registration_of_the_domain_is_a_fact_even_if_no_name_server_answers(internet, settings):
    settings.DNS_RESOLVERS = [("192.0.2.1", 53)]
    facts = {}
    lines = list(report.report("shop.example.com", facts=facts))
    assert lines[-1]["complete"] is False
    assert facts["domain"] == {
        "name": "example.com",
        "valid_until": None,
        "registrar": "",
        "reason": "no_service",
    }
