"""The domain of a website in DNS: each rule has a domain that breaks it, and one that does not."""

import json
import subprocess
import sys

import pytest

from dashboard_api.crawler.engines import read_engines
from dashboard_api.crawler.essentials.domain.report import report
from dashboard_api.crawler.essentials.rules import RULES
from dashboard_api.scanners import finding_lines
from foundation.outbound import name_servers
from tests.faults.name_servers import RESOLVER, NameServers
from tests.faults.server import closed_port

HOST = "shop.example.com"
GOOD = (
    "example.com. 60 IN DS 12345 13 2 " + "ab" * 32,
    'example.com. 60 IN CAA 0 issue "ca.example.net"',
    'example.com. 60 IN TXT "v=spf1 include:mail.example.net -all"',
    '_dmarc.example.com. 60 IN TXT "v=DMARC1; p=reject"',
    'mail.example.net. 60 IN TXT "v=spf1 ip4:192.0.2.0/24 -all"',
)


TWO_AND_ONE = ((HOST, "reject"), (HOST, "none"), ("example.com", "reject"))


@pytest.fixture(scope="module")
def running():
    servers = NameServers()
    yield servers
    servers.close()


@pytest.fixture
def resolver(running, settings, monkeypatch):
    running.reset()
    settings.DNS_RESOLVERS = [(RESOLVER, running.port)]
    monkeypatch.setattr(name_servers, "_SECONDS", 0.5)
    return running


def rules(host=HOST):
    """Return the rules and the evidence of a complete report."""
    *lines, last = report(host)
    assert last["complete"] is True
    assert lines[-1] == {"checked": host}
    return {line["finding"]: line["evidence"] for line in lines if "finding" in line}


def test_a_domain_with_everything_has_no_problem(resolver):
    resolver.knows(*GOOD)
    assert rules() == {}


def test_a_domain_with_hundreds_of_records_is_checked(resolver):
    resolver.knows(*GOOD, *(f'example.com. 60 IN TXT "site-verification={number}"' for number in range(200)))
    assert rules() == {}


def test_a_domain_with_nothing_lacks_each_of_them(resolver):
    assert rules() == {
        "dnssec-missing": "example.com has no DS record.",
        "caa-missing": "No CAA record at shop.example.com, example.com.",
        "spf-missing": "No TXT record begins with v=spf1 at example.com.",
        "dmarc-missing": "No DMARC record that counts at _dmarc.example.com.",
    }


MAIL = {"spf-missing", "dmarc-missing"}


@pytest.mark.parametrize("host", ["myshop.github.io", "www.myshop.github.io", "myshop.myshopify.com"])
def test_a_name_of_a_platform_needs_no_records_for_mail(resolver, host):
    assert not MAIL & rules(host).keys()


@pytest.mark.parametrize("host", ["myshop.uk.com", "shop.myshop.co.uk"])
def test_a_domain_that_has_name_servers_needs_records_for_mail(resolver, host):
    resolver.knows("myshop.uk.com. 60 IN NS ns1.example.net.")
    assert rules(host).keys() >= MAIL


def test_a_host_too_long_for_records_below_it_has_those_of_its_domain(resolver):
    resolver.knows(*GOOD)
    assert rules(".".join(["a" * 59] * 4 + ["example.com"])) == {}


@pytest.mark.parametrize(
    ("known", "rule"),
    [
        ('example.com. 60 IN TXT "v=spf1 mx +all"', "spf-allows-everyone"),
        ('example.com. 60 IN TXT "v=spf1 mx ALL"', "spf-allows-everyone"),
        ('example.com. 60 IN TXT "v=spf1 mx"', "spf-refuses-nobody"),
        ('_dmarc.example.com. 60 IN TXT "v=DMARC1; p=none; rua=mailto:a@example.net"', "dmarc-not-enforced"),
        ('_dmarc.example.com. 60 IN TXT "v=DMARC1; p=reject; sp=none"', "dmarc-not-enforced"),
    ],
)
def test_a_record_that_asks_for_nothing_is_a_problem(resolver, known, rule):
    replaced = known.partition(" ")[0]
    kept = [line for line in GOOD if not (line.startswith(f"{replaced} ") and " TXT " in line)]
    resolver.knows(known, *kept)
    assert list(rules()) == [rule]


def test_a_dmarc_record_may_have_spaces_around_its_equals_signs(resolver):
    resolver.knows(*GOOD[:3], GOOD[4], '_dmarc.example.com. 60 IN TXT "v = DMARC1 ; p = reject"')
    assert rules() == {}


def test_a_policy_of_the_host_itself_comes_before_that_of_its_domain(resolver):
    resolver.knows(*GOOD, '_dmarc.shop.example.com. 60 IN TXT "v=DMARC1; p=none"')
    assert list(rules()) == ["dmarc-not-enforced"]


def test_a_weak_policy_for_names_below_concerns_the_domain_in_part(resolver):
    record = "v=DMARC1; p=reject; sp=none"
    resolver.knows(*GOOD[:3], GOOD[4], f'_dmarc.example.com. 60 IN TXT "{record}"')
    evidence = (
        f"{record}\nMail in the name of subdomains: receivers are asked to do nothing."
        "\nMail in the name of subdomains that do not exist: receivers are asked to do nothing."
    )
    assert rules("example.com") == {"dmarc-partly-enforced": evidence}


@pytest.mark.parametrize(
    "known",
    [
        ('_dmarc.example.com. 60 IN TXT "v=DMARC10; p=reject"',),
        ('_dmarc.example.com. 60 IN TXT "p=reject; v=DMARC1"',),
        (GOOD[3], '_dmarc.example.com. 60 IN TXT "v=DMARC1; p=none"'),
        tuple(f'_dmarc.{name}. 60 IN TXT "v=DMARC1; p={policy}"' for name, policy in TWO_AND_ONE),
    ],
    ids=["another version", "version at the end", "two records", "two at the host"],
)
def test_a_dmarc_record_that_receivers_ignore_is_none(resolver, known):
    resolver.knows(*GOOD[:3], GOOD[4], *known)
    assert list(rules()) == ["dmarc-missing"]


def test_receivers_ignore_two_spf_records(resolver):
    resolver.knows(*GOOD, 'example.com. 60 IN TXT "v=spf1 -all"')
    assert rules() == {"spf-missing": "Receivers ignore several records with v=spf1 at example.com."}


def test_a_text_that_only_begins_like_spf_is_none(resolver):
    resolver.knows(GOOD[0], GOOD[1], GOOD[3], 'example.com. 60 IN TXT "v=spf10 all"')
    assert list(rules()) == ["spf-missing"]


def test_wrong_signatures_are_a_problem_and_the_records_are_still_checked(resolver):
    resolver.knows(*GOOD)
    resolver.bogus = 100
    assert list(rules()) == ["dnssec-bogus"]


@pytest.mark.parametrize(
    ("known", "times"), [(GOOD, 1), (GOOD[1:], 100)], ids=["a failure that passes", "a domain without DS"]
)
def test_a_failure_of_the_resolver_is_no_wrong_signature(resolver, known, times):
    resolver.knows(*known)
    resolver.bogus = times
    _, *lines = report(HOST)
    assert [line.get("error") for line in lines] == ["servers_silent", None]


@pytest.mark.parametrize(
    ("host", "other"), [("example.com", "www.example.com"), ("www.example.com", "example.com")]
)
def test_a_cname_that_leads_nowhere_is_a_problem(resolver, host, other):
    resolver.knows(*GOOD, f"{other}. 60 IN CNAME gone.example.net.")
    assert rules(host) == {"cname-dangling": f"{other} is a CNAME of gone.example.net, which does not exist."}


def test_a_website_that_is_itself_a_cname_that_leads_nowhere_is_a_problem_of_high_severity(resolver):
    resolver.knows(*GOOD, f"{HOST}. 60 IN CNAME gone.example.net.")
    assert rules() == {"cname-dangling": f"{HOST} is a CNAME of gone.example.net, which does not exist."}
    assert RULES["cname-dangling"].severity == "high"


def test_a_cname_that_leads_somewhere_is_none(resolver):
    resolver.knows(
        *GOOD, "www.example.com. 60 IN CNAME host.example.net.", "www.example.com. 60 IN A 192.0.2.1"
    )
    assert rules("example.com") == {}


def test_a_resolver_that_fails_is_a_failed_check_and_no_finding(resolver, settings):
    resolver.broken = True
    assert next(line for line in report(HOST) if "scan" not in line) == {
        "checked": HOST,
        "error": "servers_silent",
    }
    settings.DNS_RESOLVERS = [(RESOLVER, closed_port())]
    *_, last = report(HOST)
    assert last["complete"] is False


def test_the_program_asks_the_resolvers_of_the_settings(resolver, settings, tmp_path):
    engine = next(e for e in read_engines(settings.BASE_DIR / "deploy/engines.toml") if e.name == "dns")
    path = tmp_path / "report"
    arguments = engine.arguments(host=HOST, address="192.0.2.1", report=path, agent="agent")
    subprocess.run([sys.executable, *arguments], check=True, env={}, cwd=tmp_path)
    with path.open("rb") as stream:
        read = finding_lines.read(stream)
        assert read.source == "dns"
        assert len(list(read.entries)) == len(path.read_text().splitlines()) - 1
    assert "caa-missing" in [json.loads(line).get("finding") for line in path.read_text().splitlines()]


def test_only_domains_are_asked_about(settings):
    engine = next(e for e in read_engines(settings.BASE_DIR / "deploy/engines.toml") if e.name == "dns")
    assert engine.is_part_of("quick", HOST)
    assert not engine.is_part_of("quick", "demo-shop.localhost")
    assert not engine.is_part_of("quick", "192.0.2.1")
