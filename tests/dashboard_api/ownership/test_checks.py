"""Checks of a claim in all of its places."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import msgspec
import pytest
from django.utils import timezone

from dashboard_api.crawler.canary import look
from dashboard_api.models import OwnershipClaim, ScanJob, SiteLink
from dashboard_api.ownership import checks, claims
from dashboard_api.ownership.checking import CheckResult
from dashboard_api.ownership.claims import Check, Verdict
from tests import factories
from tests.dashboard_api.crawler.placeholders import PLACEHOLDERS, WEBSITE
from tests.faults.certificate import write_certificate
from tests.faults.server import FaultServer, http, say_nothing, send
from tests.foundation.outbound.internet import PUBLIC, Internet

pytestmark = pytest.mark.django_db
HOST = "shop.example.com"
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def test_all_places_share_one_limit_of_time(monkeypatch):
    internet = Internet(monkeypatch)
    internet.zone[f"{HOST}."] = [PUBLIC]
    monkeypatch.setattr(checks, "SECONDS", 0.7)
    claim = claims.add(factories.make_account(), HOST, by="ada", now=timezone.now())
    with FaultServer(say_nothing) as server:
        internet.serve(server)
        claim = checks.check_claim(claim, now=timezone.now())
    assert [result["outcome"] for result in claim.checks] == ["servers_silent", "timed_out", "timed_out"]
    assert server.connections == 1, "the last place was not asked, because the time was over"


@pytest.mark.parametrize(
    ("shown", "outcomes", "misses"),
    [
        (WEBSITE, {"html_instead", "not_found"}, 1),
        (PLACEHOLDERS["suspended"], {"page_changed"}, 0),
        (PLACEHOLDERS["browser check"], {"page_changed"}, 0),
    ],
)
def test_a_token_that_is_missing_behind_another_page_says_nothing(monkeypatch, shown, outcomes, misses):
    internet = Internet(monkeypatch)
    internet.zone[f"{HOST}."] = [PUBLIC]
    monkeypatch.setattr(checks, "has_record", lambda _host: False)
    claim = added(proof=Check(Verdict.FOUND, "file", "http"))
    website = SiteLink.objects.get().website
    with FaultServer(send(WEBSITE)) as server:
        internet.serve(server)
        page = msgspec.to_builtins(look(HOST, PUBLIC).page)
    ScanJob.objects.create(website=website, by="ada", state="finished", ended_at=NOW, page=page)
    with FaultServer(send(shown)) as server:
        internet.serve(server)
        claim = checks.check_claim(claim, now=NOW + timedelta(days=1))
    assert {result["outcome"] for result in claim.checks} == outcomes
    assert (claim.misses, claim.unasked_at is None) == (misses, bool(misses))
    assert all(result["advice"] for result in claim.checks)


@pytest.fixture
def looks(monkeypatch):
    """The verdict of each place, or ``of`` a token, and the places in the order in which they were asked."""
    looks = SimpleNamespace(verdicts={}, of={}, asked=[], parents=[], deadlines=set())

    def look(token, method, deadline):
        looks.asked.append(method)
        looks.deadlines.add(deadline)
        verdict = looks.of.get(token, looks.verdicts).get(method, Verdict.MISSING)
        return CheckResult(outcome="not_found", verdict=verdict, expected="", strength="https")

    def look_in_dns(_host, token, *, parents, deadline):
        looks.parents = list(parents)
        return look(token, "dns", deadline)

    def check(_host, token, method, *, deadline, **_):
        return look(token, method, deadline)

    monkeypatch.setattr(checks, "check", check)
    monkeypatch.setattr(checks, "look_in_dns", look_in_dns)
    return looks


def added(host=HOST, *, proof=None):
    claim = claims.add(factories.make_account(secrets=()), host, by="ada", now=NOW)
    return claims.record_check(claim, proof, now=NOW) if proof else claim


def test_a_claim_has_thirty_checks_by_hand_in_an_hour_and_the_next_says_when_it_may_begin(looks):
    claim, pause = added(), timedelta(seconds=15)
    hours = []
    for hour in (NOW, NOW + timedelta(hours=1)):
        done, waits = 0, []
        for number in range(240):
            try:
                claim = checks.check_by_hand(claim, method="file", now=hour + number * pause)
                done += 1
            except checks.TooSoon as refusal:
                waits.append(refusal.seconds)
        hours.append((done, waits[0], waits[-1]))
    assert hours == [(30, 3150, 15)] * 2
    assert claim.check_allowed_at == NOW + timedelta(hours=2)


def test_an_account_has_sixty_checks_by_hand_in_an_hour_of_all_its_claims_and_others_have_theirs(looks):
    account = factories.make_account("acct_many", secrets=())
    own = [claims.add(account, f"{number}.{HOST}", by="ada", now=NOW) for number in range(7)]
    for number in range(60):
        now = NOW + number * timedelta(seconds=5)
        checks.check_by_hand(own[number % 7], method="file", now=now)
    with pytest.raises(checks.TooSoon) as refusal:
        checks.check_by_hand(own[4], method="file", now=now)
    assert refusal.value.seconds == 3600 - 59 * 5
    assert checks.check_by_hand(added("other.example.com"), method="file", now=now).asked_count == 1
    assert checks.check_by_hand(own[0], method="file", now=NOW + timedelta(hours=1, minutes=10))


def test_a_check_within_the_pause_waits_for_its_end_and_is_not_counted(looks):
    claim = checks.check_by_hand(added(), method="file", now=NOW)
    with pytest.raises(checks.TooSoon) as refusal:
        checks.check_by_hand(claim, method="file", now=NOW + timedelta(seconds=3, milliseconds=1))
    claim.refresh_from_db()
    assert (refusal.value.seconds, claim.asked_at, claim.asked_count) == (12, NOW, 1)


def test_every_check_asks_dns_first_because_deep_scans_and_names_below_need_that_proof(looks):
    looks.verdicts = {"meta": Verdict.FOUND}
    claim = checks.check_claim(added(proof=Check(Verdict.FOUND, "meta", "https")), now=NOW)
    assert (looks.asked, claim.method, claim.misses) == (["dns", "meta"], "meta", 0)
    looks.verdicts["dns"] = Verdict.FOUND
    assert checks.check_claim(claim, now=NOW + timedelta(days=7)).method == "dns"


def test_a_record_that_is_back_proves_names_below_again(looks):
    looks.verdicts["file"] = Verdict.FOUND
    claim, now = added(proof=Check(Verdict.FOUND, "dns", "dns")), NOW
    while claim.method == "dns":
        now = claim.next_check_at
        claim = checks.check_claim(claim, now=now)
    looks.verdicts["dns"] = Verdict.FOUND
    claim = checks.check_claim(claim, now=claim.next_check_at)
    assert claims.add(claim.account, f"www.{HOST}", by="ada", now=now).state == "verified"


def test_checks_of_one_place_postpone_no_check_of_all_and_end_no_proof(looks):
    looks.verdicts["file"] = Verdict.FOUND
    claim = added(proof=Check(Verdict.FOUND, "dns", "dns"))
    planned_at = claim.next_check_at
    for hour in range(72):
        claim = checks.check_by_hand(claim, method="dns", now=NOW + timedelta(hours=hour))
    assert (claim.state, claim.misses, claim.next_check_at) == ("verified", 0, planned_at)
    assert [look["method"] for look in claim.checks] == ["dns"]
    assert checks.check_claim(claim, now=planned_at).misses == 1


def test_a_check_of_one_place_asks_that_of_the_last_proof_too(looks):
    looks.verdicts["file"] = Verdict.FOUND
    claim = added(proof=Check(Verdict.FOUND, "dns", "dns"))
    claim = checks.check_by_hand(claim, method="meta", now=NOW)
    assert (looks.asked, claim.misses) == (["dns", "meta"], 0)
    looks.verdicts["dns"] = Verdict.FOUND
    claim = checks.check_by_hand(claim, method="file", now=NOW + timedelta(minutes=1))
    assert (looks.asked[2:], claim.misses, claim.method) == (["dns", "file"], 0, "dns")


def test_a_check_that_began_before_a_better_proof_was_found_does_not_replace_it(looks):
    looks.verdicts["file"] = Verdict.FOUND
    claim = added(proof=Check(Verdict.FOUND, "file", "https"))
    OwnershipClaim.objects.update(method="dns", strength="dns")  # by another check, meanwhile
    claim = checks.check_claim(claim, now=NOW)
    assert (claim.method, claim.misses) == ("dns", 1)


def test_a_check_that_began_before_staff_confirmed_the_website_changes_nothing(looks):
    looks.verdicts["file"] = Verdict.FOUND
    claim = added()
    SiteLink.objects.link(claim.account, factories.make_website(HOST), by="staff")
    claim = checks.check_claim(claim, now=NOW)
    assert (claim.method, claim.next_check_at) == ("manual", None)


def test_a_check_by_hand_of_a_website_that_staff_confirmed_asks_dns_alone(looks):
    looks.verdicts["file"] = Verdict.FOUND
    account = factories.make_account(secrets=())
    SiteLink.objects.link(account, factories.make_website(HOST), by="staff")
    claim = checks.check_by_hand(account.ownership_claims.get(), method="", now=NOW)
    assert (looks.asked, claim.method) == (["dns"], "manual")


@pytest.mark.parametrize(
    ("proof", "verdicts", "misses"),
    [
        ("file", {"dns": Verdict.NOT_ASKED}, 1),  # name servers that are silent keep no claim alive
        ("dns", {"file": Verdict.NOT_ASKED, "meta": Verdict.NOT_ASKED}, 1),
        ("file", {"file": Verdict.NOT_ASKED}, 0),
        ("dns", {"dns": Verdict.NOT_ASKED}, 0),
    ],
)
def test_the_place_of_the_last_proof_decides_whether_it_is_missing(looks, proof, verdicts, misses):
    looks.verdicts = verdicts
    claim = added(proof=Check(Verdict.FOUND, proof, "https"))
    assert checks.check_claim(claim, now=NOW).misses == misses


@pytest.mark.parametrize("method", ["", "file"])
def test_a_proof_by_dns_is_kept_while_its_name_servers_are_silent(looks, method):
    looks.verdicts = {"dns": Verdict.NOT_ASKED, "file": Verdict.FOUND}
    claim = checks.check_by_hand(added(proof=Check(Verdict.FOUND, "dns", "dns")), method=method, now=NOW)
    assert (claim.method, claim.strength, claim.next_check_at) == ("dns", "dns", NOW + timedelta(days=1))
    below = claims.add(claim.account, f"www.{HOST}", by="ada", now=NOW)
    assert (below.state, claims.proven_parents(below)) == ("pending", [claim])
    looks.verdicts["dns"] = Verdict.FOUND
    claim = checks.check_claim(claim, now=NOW + timedelta(days=1))
    assert (claim.method, claim.unasked_at) == ("dns", None)


def test_a_proof_by_dns_without_a_record_for_a_day_becomes_that_of_another_place(looks):
    looks.verdicts["file"] = Verdict.FOUND
    claim, now, hours = added(proof=Check(Verdict.FOUND, "dns", "dns")), NOW, []
    while claim.method == "dns":
        now = claim.next_check_at
        claim = checks.check_claim(claim, now=now)
        hours.append(int((now - NOW).total_seconds()) // 3600)
    assert [hour - hours[0] for hour in hours] == [0, 1, 7, 31]
    assert (claim.state, claim.strength, claim.misses, claim.missed_at) == ("verified", "https", 0, None)


def test_a_proof_by_dns_outlives_silence_and_one_look_without_its_record(looks):
    claim = added(proof=Check(Verdict.FOUND, "dns", "dns"))
    looks.verdicts = {"dns": Verdict.NOT_ASKED, "file": Verdict.FOUND}
    claim = checks.check_claim(claim, now=NOW)
    looks.verdicts["dns"] = Verdict.MISSING
    claim = checks.check_claim(claim, now=NOW + timedelta(days=1))
    assert (claim.method, claim.misses, claim.unasked_at) == ("dns", 1, None)
    looks.verdicts["dns"] = Verdict.FOUND
    claim = checks.check_claim(claim, now=NOW + timedelta(days=1, hours=1))
    assert (claim.method, claim.misses, claim.missed_at) == ("dns", 0, None)


def test_three_looks_within_a_minute_and_a_silent_one_do_not_end_a_proof_by_dns(looks):
    looks.verdicts["file"] = Verdict.FOUND
    claim = added(proof=Check(Verdict.FOUND, "dns", "dns"))
    for second in (0, 20, 40):
        claim = checks.check_claim(claim, now=NOW + timedelta(seconds=second))
    looks.verdicts["dns"] = Verdict.NOT_ASKED
    claim = checks.check_claim(claim, now=NOW + timedelta(days=2))
    assert (claim.method, claim.misses) == ("dns", 3)


def test_name_servers_that_are_silent_after_a_miss_are_asked_daily(looks):
    looks.verdicts["file"] = Verdict.FOUND
    claim = checks.check_claim(added(proof=Check(Verdict.FOUND, "dns", "dns")), now=NOW)
    assert claim.next_check_at == NOW + timedelta(hours=1)
    looks.verdicts["dns"] = Verdict.NOT_ASKED
    claim = checks.check_claim(claim, now=NOW)
    assert claim.next_check_at == NOW + timedelta(days=1)


def test_dns_is_asked_first_while_another_account_has_the_website(looks):
    SiteLink.objects.link(factories.make_account("acct_other"), factories.make_website(HOST), by="staff")
    looks.verdicts["file"] = Verdict.FOUND
    claim = added(proof=Check(Verdict.FOUND, "file", "https"))
    claim = checks.check_claim(claim, now=NOW)
    assert (claim.state, looks.asked) == ("contested", ["dns", "file"])


@pytest.fixture
def rivals(looks):
    """Return a function that checks a claim while the tokens of it and of the holder have these verdicts."""
    holder = added(proof=Check(Verdict.FOUND, "file", "https"))
    claim = claims.add(factories.make_account("acct_0002", secrets=()), HOST, by="eve", now=NOW)

    def check(theirs, *, methods=(), at=NOW + timedelta(days=1), is_failing=True):
        if is_failing:
            failing = {"state": "failing", "misses": 3, "missed_at": NOW - timedelta(days=1)}
            OwnershipClaim.objects.filter(pk=holder.pk).update(**failing)
        looks.of = {holder.token: theirs, claim.token: {"file": Verdict.FOUND}}
        after = checks.check_claim(claim, methods, now=at)
        holder.refresh_from_db()
        return after, holder

    return check


@pytest.mark.parametrize("methods", [(), ("file",)])
def test_a_website_is_taken_over_if_its_holder_lacks_the_token_for_a_day_and_now(rivals, looks, methods):
    claim, holder = rivals({}, methods=methods)
    assert (claim.state, claims.holds(claim), claims.holds(holder)) == ("verified", True, False)
    assert (holder.ended_reason, [each["method"] for each in holder.checks]) == (
        "taken_over",
        ["dns", "file", "meta"],
    )
    looks.asked.clear()
    checks.check_claim(claim, now=NOW + timedelta(days=8))
    assert looks.asked == ["dns", "file"], "the former holder is not looked for again"


@pytest.mark.parametrize(
    "theirs",
    [{"file": Verdict.FOUND}, {"file": Verdict.NOT_ASKED}, {"dns": Verdict.FOUND}, {"meta": Verdict.FOUND}],
)
def test_a_token_of_the_holder_that_is_anywhere_or_could_not_be_asked_for_keeps_the_website(rivals, theirs):
    claim, holder = rivals(theirs)
    assert (claim.state, claims.holds(claim), claims.holds(holder)) == ("contested", False, True)
    claim, holder = rivals({}, at=NOW + timedelta(days=2))
    assert (claim.state, claims.holds(claim), claims.holds(holder)) == ("verified", True, False)


def test_the_look_for_the_token_of_the_holder_shares_the_time_of_the_check(rivals, looks):
    rivals({})
    assert len(looks.asked) == 5
    assert len(looks.deadlines) == 1


def test_a_file_changes_nothing_about_a_website_that_staff_confirmed(looks):
    looks.verdicts["file"] = Verdict.FOUND
    account = factories.make_account(secrets=())
    SiteLink.objects.link(account, factories.make_website(HOST), by="staff")
    claim = checks.check_by_hand(account.ownership_claims.get(), method="file", now=NOW)
    assert (claim.method, claim.next_check_at, len(claim.checks)) == ("manual", None, 1)


def test_an_address_has_no_record_to_look_for(looks, settings):
    settings.ALLOW_PRIVATE_HOSTS = True
    checks.check_claim(added("127.0.0.1"), now=NOW)
    assert looks.asked == ["file", "meta"]


def test_proofs_of_names_above_are_looked_for_too(looks):
    above = added("example.com", proof=Check(Verdict.FOUND, "dns", "dns"))
    claim = claims.add(above.account, HOST, by="ada", now=NOW)
    checks.check_claim(claim, ["dns"], now=NOW)
    assert looks.parents == [("example.com", above.token)]
    below = claims.add(above.account, f"www.{HOST}", by="ada", now=NOW)
    claims.record_check(claim, Check(Verdict.FOUND, "dns", "dns"), now=NOW)
    checks.check_claim(below, ["dns"], now=NOW)
    assert looks.parents == [("example.com", above.token), (HOST, claim.token)], "the topmost first"


@pytest.fixture
def shared(monkeypatch, tmp_path):
    """Two websites of one server: by http each has its own; https is that of the stranger, for every name."""
    internet = Internet(monkeypatch)
    internet.zone[f"{HOST}."] = [PUBLIC]
    _, tls = write_certificate(tmp_path, name="stranger.example.net")
    shared = SimpleNamespace(own="", strangers="", internet=internet)

    def serve(name):
        def script(server, connection):
            server.receive(connection)
            token = getattr(shared, name)
            connection.sendall(http(200, token.encode()) if token else http(404))

        return script

    with FaultServer(serve("own")) as plain, FaultServer(serve("strangers"), tls=tls) as encrypted:
        internet.serve(plain)
        shared.turn_https_on = lambda: internet.serve(encrypted, port=443)
        yield shared


def test_https_of_another_website_on_the_same_server_proves_nothing(shared):
    shared.turn_https_on()
    claim = added()
    shared.strangers = claim.token
    claim = checks.check_claim(claim, ("file", "meta"), now=NOW)
    assert claim.state == "pending"
    assert {check["outcome"] for check in claim.checks} == {"not_found"}


def test_a_proof_over_http_outlives_https_of_another_website_on_the_same_server(shared):
    owners = added()
    shared.own = owners.token
    owners = checks.check_claim(owners, ("file",), now=NOW)
    assert (owners.state, owners.strength) == ("verified", "http")
    shared.turn_https_on()
    strangers = claims.add(factories.make_account("acct_stranger", secrets=()), HOST, by="eve", now=NOW)
    shared.strangers = strangers.token
    for day in range(7, 60):
        now = NOW + timedelta(days=day)
        owners = checks.check_claim(owners, ("file",), now=now)
        strangers = checks.check_claim(strangers, ("file",), now=now)
        assert (owners.state, owners.misses, claims.holds(owners)) == ("verified", 0, True)
        assert not claims.holds(strangers)


def test_a_proof_behind_a_certificate_that_expired_counts_as_not_reached_for_a_month(shared):
    claim = added(proof=Check(Verdict.FOUND, "file", "https"))
    shared.turn_https_on()
    del shared.internet.routes[PUBLIC, 80]
    states = {}
    for day in range(1, 46):
        claim = checks.check_claim(claim, now=NOW + timedelta(days=day))
        states.setdefault(claim.state, day)
    assert states == {"verified": 1, "failing": 33, "ended": 45}
