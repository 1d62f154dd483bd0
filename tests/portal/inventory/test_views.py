"""Certificates, domains and scripts in the portal: what members read, and what owners change."""

import pytest

from audit.models import AuditEvent
from foundation.texts.people import reference_of
from portal.inventory import views
from signed_api.errors import UnknownScript
from signed_api.inventory import INVENTORY, LAST_DAYS, SCRIPT, ScriptResponse
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import NOW
from tests.portal.inventory.inventories import (
    HOST,
    SHA256,
    in_days,
    make_certificate,
    make_domain,
    make_inventory,
    make_last_day,
    make_last_days,
    make_library,
    make_script,
)
from tests.portal.service_answers import answer_with
from tests.structs import refused

pytestmark = pytest.mark.django_db
PAGE, FORM, DATES = f"/sites/{HOST}/inventory/", f"/sites/{HOST}/inventory/script/", "/websites/certificates/"


@pytest.fixture(autouse=True)
def _frozen(monkeypatch):
    monkeypatch.setattr(views.timezone, "now", lambda: NOW)


@pytest.fixture
def account():
    account = make_portal_account()
    make_portal_website(account, HOST)
    return account


@pytest.fixture
def sign_in(client, account):
    def sign_in(role="owner"):
        user = make_user(role)
        make_membership(user, account, role)
        client.force_login(user)
        return user

    return sign_in


@pytest.fixture
def read(client, monkeypatch):
    """Return the text of the page of an inventory with these members."""

    def read(**members):
        answer_with(monkeypatch, INVENTORY, lambda *_: make_inventory(**members))
        return text_of(client.get(PAGE))

    return read


def text_of(response):
    return " ".join(response.content.decode().split())


def order(text, *words):
    places = [text.index(word) for word in words]
    return places == sorted(places)


def test_certificates_are_listed_worst_first_with_days_in_words(sign_in, read):
    sign_in()
    soon = make_certificate(3, host="soon.example.com", fingerprint="b2" * 32)
    refused_one = make_certificate(90, host="bad.example.com", fingerprint="c3" * 32, problem="not_trusted")
    ended = make_certificate(-2, host="old.example.com", fingerprint="d4" * 32)
    text = read(certificates=[make_certificate(60), soon, refused_one, ended])
    assert order(text, "bad.example.com", "old.example.com", "soon.example.com", "expires in 60 days")
    for words in (
        "expired 2 days ago",
        "expires in 3 days",
        "it: no public authority signed it",
    ):
        assert words in text
    assert "RSA, 2048 bits · read on" in text
    assert "Example Trust R3</span>, until" in text  # the chain, folded


def test_a_certificate_that_several_hosts_show_is_one_row_with_its_newest_reading(sign_in, read):
    sign_in()
    same = [make_certificate(seen_at=in_days(-9)), make_certificate(host=f"www.{HOST}", port=8443)]
    text = read(certificates=same)
    assert f"<h3>{HOST}, www.{HOST}:8443</h3>" in text
    assert text.count("RSA, 2048 bits") == 1
    assert 'read on <time datetime="2026-11-20' in text


def test_a_replaced_certificate_is_folded_away(sign_in, read):
    sign_in()
    text = read(
        certificates=[make_certificate(80), make_certificate(5, current=False, fingerprint="b2" * 32)]
    )
    assert order(text, "expires in 80 days", "Certificates that are no longer in use", "expires in 5 days")


@pytest.mark.parametrize(
    ("days", "lifetime", "tone"),
    [
        (15, 365, "ok"),
        (13, 365, "partial"),
        (13, 47, "ok"),
        (11, 47, "partial"),
        (5, 6, "ok"),
        (0.1, 6, "partial"),
    ],
)
def test_a_certificate_with_a_short_lifetime_is_soon_only_in_its_last_quarter(
    sign_in, read, days, lifetime, tone
):
    sign_in()
    one = make_certificate(days, valid_from=in_days(days - lifetime))
    assert f'<span class="state {tone}">expires' in read(certificates=[one])


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        (make_domain(200), "expires in 200 days"),
        (make_domain(None, reason="no_server"), "the registry of this ending does not publish it"),
        (make_domain(None, reason="new_reason"), "The registry did not answer the last scan"),
        (make_domain(20, reason="failed"), "The registry did not answer the last scan"),
        (None, "No scan has asked the registry"),
    ],
)
def test_the_domain_has_its_last_day_or_the_reason_why_it_is_not_known(sign_in, read, domain, words):
    sign_in()
    assert words in read(domain=domain, certificates=[make_certificate()])


def test_scripts_are_grouped_by_host_unexpected_hosts_first_and_own_ones_last(sign_in, read):
    sign_in()
    vendor = make_script("/jquery.js", host="cdn.example.net", integrity=True, libraries=[make_library()])
    strange = make_script("/x.js", host="zz.example.org", new=True)
    text = read(scripts=[make_script(changed_at=in_days(-1)), vendor, strange])
    assert order(text, "zz.example.org", "New host", "cdn.example.net", "third party", "your own")
    for words in ("jquery 3.4.1", "has integrity", "20 KB", "changed on", "3 scripts from 3 hosts"):
        assert words in text


def test_a_script_that_is_no_longer_there_says_so_and_cannot_be_pinned(sign_in, read):
    sign_in()
    text = read(scripts=[make_script(current=False)])
    assert "no longer there, last seen" in text
    assert 'value="pin"' not in text


def test_a_pinned_script_with_other_content_is_marked_and_can_be_pinned_as_it_is_now(sign_in, read):
    sign_in()
    text = read(scripts=[make_script(pinned=True, pinned_sha256="0" * 64)])
    assert "other content than pinned" in text
    assert 'value="unpin"' in text
    assert "Pin this content" in text
    assert "Pin this content" not in read(scripts=[make_script(pinned=True, pinned_sha256=SHA256)])


@pytest.mark.parametrize("role", ["contributor", "viewer"])
def test_members_who_manage_nothing_read_only(sign_in, read, client, role):
    sign_in(role)
    text = read(scripts=[make_script(new=True)])
    assert "/app.js" in text
    assert f'action="{FORM}"' not in text
    assert client.post(FORM, {"act": "pin", "url": f"https://{HOST}/app.js"}).status_code == 404


@pytest.mark.parametrize(("role", "words"), [("owner", "Scan now"), ("viewer", "Ask an owner")])
def test_a_website_that_was_never_scanned_says_what_to_do(sign_in, read, role, words):
    sign_in(role)
    text = read(scripts_at=None)
    assert "Nothing has been read yet" in text
    assert words in text


def test_a_page_without_scripts_differs_from_one_that_was_not_read(sign_in, read):
    sign_in()
    assert "has no scripts, as a scan read on" in read(certificates=[make_certificate()])
    assert "No scan has read the scripts yet." in read(certificates=[make_certificate()], scripts_at=None)


def test_what_a_website_sends_is_shown_as_text(sign_in, read):
    sign_in()
    hostile = '"><script>alert(1)</script>'
    text = read(
        certificates=[make_certificate(issuer=hostile, key=hostile, problem=hostile, names=[hostile])],
        scripts=[make_script(f"/{hostile}", libraries=[make_library(hostile, hostile)])],
        domain=make_domain(registrar=hostile),
        page=hostile,
    )
    assert "<script>alert" not in text


ACTS = [
    ("pin", "Pinned.", "website.script_pinned", "script"),
    ("unpin", "Unpinned.", "website.script_unpinned", "script"),
    ("accept_host", "Accepted.", "website.script_host_accepted", "host"),
]


@pytest.mark.parametrize(("act", "words", "event", "about"), ACTS)
def test_an_owner_acts_on_a_script_and_the_audit_log_says_so(
    sign_in, client, read, monkeypatch, act, words, event, about
):
    user, asked, script = sign_in("manager"), [], make_script()
    read(scripts=[script])

    def respond(service, account, request):
        asked.append((request.url, request.act, request.sha256, request.by))
        return ScriptResponse(ok=True, host=HOST, script=script)

    answer_with(monkeypatch, SCRIPT, respond)
    fields = {"url": script.url, "act": act, "sha256": SHA256}
    assert words in text_of(client.post(FORM, fields, follow=True))
    assert asked == [(script.url, act, SHA256, reference_of(user.pk))]
    recorded = AuditEvent.objects.get(action=event)
    assert recorded.host == HOST
    assert (script.url if about == "script" else script.host) in str(recorded.after)


def test_a_script_that_changed_meanwhile_is_not_pinned(sign_in, client, read, monkeypatch):
    sign_in()
    read(scripts=[make_script()])

    def respond(*_):
        raise refused(UnknownScript)

    answer_with(monkeypatch, SCRIPT, respond)
    response = client.post(FORM, {"url": "https://a.example/a.js", "act": "unpin"}, follow=True)
    assert "Nothing was changed: a scan has seen other scripts since." in text_of(response)
    assert not AuditEvent.objects.filter(action__startswith="website.script").exists()


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"act": "pin"},
        {"act": "drop", "url": "https://a.example/"},
        {"act": "pin", "url": "a", "sha256": "x"},
    ],
)
def test_a_form_that_the_page_does_not_have_is_refused(sign_in, client, fields):
    sign_in()
    assert client.post(FORM, fields).status_code == 400


def test_all_certificates_and_domains_of_an_account_are_listed_with_their_websites(
    sign_in, client, monkeypatch
):
    sign_in("viewer")
    items = [
        make_last_day(-1),
        make_last_day(5, kind="domain", name="example.com", port=None, fingerprint="", issuer=""),
        make_last_day(80, host="other.example.net", name="other.example.net"),
    ]
    answer_with(monkeypatch, LAST_DAYS, lambda *_: make_last_days(*items))
    text = text_of(client.get(DATES))
    assert order(text, "expired 1 day ago", "expires in 5 days", "expires in 80 days")
    assert f'<a href="{PAGE}">{HOST}</a>' in text
    assert "other.example.net</a>" not in text  # not in this portal


def test_the_list_is_filtered_and_paged(sign_in, client, monkeypatch):
    sign_in()
    asked = []

    def respond(service, account, request):
        asked.append((request.within_days, request.page, request.page_size))
        return make_last_days(make_last_day(), total=120)

    answer_with(monkeypatch, LAST_DAYS, respond)
    client.get(DATES)
    text = text_of(client.get(DATES, {"within": "30", "page": "2"}))
    assert asked == [(3660, 1, 50), (30, 2, 50)]
    assert f'href="{DATES}?within=30&amp;page=3"' in text
    assert "120 entries" in text
    assert client.get(DATES, {"within": "31"}).status_code == 400


def test_an_empty_list_says_whether_the_filter_is_the_reason(sign_in, client, monkeypatch):
    sign_in()
    answer_with(monkeypatch, LAST_DAYS, lambda *_: make_last_days())
    assert "Nothing has been read yet" in text_of(client.get(DATES))
    assert "Nothing expires within 30 days" in text_of(client.get(DATES, {"within": "30"}))


def test_the_lists_of_websites_and_the_website_lead_to_the_pages(sign_in, client, monkeypatch):
    sign_in()
    assert DATES in text_of(client.get("/"))
    assert PAGE in text_of(client.get(f"/sites/{HOST}/"))
