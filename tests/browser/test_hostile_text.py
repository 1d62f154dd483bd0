"""Text of scanners, analysts and visitors that tries to become markup, in every place that shows it."""

from urllib.parse import quote

import pytest
from django.db import transaction
from django.utils import timezone
from playwright.sync_api import expect

from dashboard_api.decisions import cases
from dashboard_api.models import Coverage, FindingEvent
from tests.browser.steps import PATH, eventually
from tests.dashboard_api.disputes import answer, ask, dispute
from tests.factories import (
    make_coverage,
    make_event,
    make_finding,
    make_import_run,
    make_membership,
    make_note,
    make_occurrence,
    make_source,
    make_standing_decision,
    make_user,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PAYLOADS = (
    "<script>alert(1)</script>",
    "<ScRiPt>alert(1)</sCrIpT>",
    "<script src=//elsewhere.example/x.js></script>",
    "<script/x>alert(1)</script/x>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "</script><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "]]><script>alert(1)</script>",
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    "<script type=module>import('//elsewhere.example/x.js')</script>",
    "<img src=x onerror=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "<img src=`x`onerror=alert(1)>",
    "<img/src=x/onerror=alert(1)//",
    "<img src=http://elsewhere.example/x.png>",
    "<image href=x onerror=alert(1)>",
    '" onmouseover=alert(1) x="',
    "' onfocus=alert(1) autofocus x='",
    "<body onload=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>",
    "<video><source onerror=alert(1)></video>",
    "<audio src=x onerror=alert(1)>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<div hx-get=/accounts/ hx-trigger=load>x</div>",
    "<div data-hx-on:load=alert(1)>x</div>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload=alert(1)>#x'/></svg>",
    "<svg><a href=javascript:alert(1)><text>x</text></a></svg>",
    "<math><mtext></p><style><img src=x onerror=alert(1)></style>",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "<a href=javascript:alert(1)>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "[x](javascript:alert(1))",
    "[x](<java&#115;cript:alert(1)>)",
    "![x](http://elsewhere.example/x.png)",
    "<javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<embed src=//elsewhere.example/x.swf>",
    "<base href=//elsewhere.example/>",
    "<meta http-equiv=refresh content='0;url=//elsewhere.example/'>",
    "<link rel=stylesheet href=//elsewhere.example/x.css>",
    "<style>*{background:url(//elsewhere.example/x)}</style>",
    "<form action=//elsewhere.example/><button>x</button></form>",
    "{{ 7|add:'7' }}{% debug %}{{ request.user.password }}",
    "${alert(1)}`${alert(1)}`#{alert(1)}<%= alert(1) %>",
    "\u202e<script>alert(1)</script>\u2066",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e\u2028alert(1)//",
    "&lt;script&gt;alert(1)&lt;/script&gt;&#60;img src=x onerror=alert(1)&#62;",
)
# Elements and attributes that no page of ours has, and that the payloads want.
MARKUP = """() => [...document.querySelectorAll("*")].filter((it) =>
  it.matches("iframe, object, embed, base, marquee, audio, video, math, meta[http-equiv], [srcdoc]")
  || [...it.attributes].some(({name, value}) => /^on|^hx-on|^data-hx/.test(name)
    || (["href", "src", "action"].includes(name) && /^\\s*(javascript|data:|vbscript|\\/\\/)/i.test(value)))
  ).map((it) => it.outerHTML.slice(0, 200))"""
STAFF_PAGES = ("finding/", "finding/workbench/", "account/", "source/", "importrun/", "standingdecision/")
STAFF_PAGES += ("case/", "case/workbench/", "case/said-fixed/", "case/disputed-rules/")


@pytest.fixture
def hostile(link, website, owner):
    """Return a finding for each payload, which is in each of its texts; others have the payloads, too."""
    with transaction.atomic():
        link.account.name = website.account.name = PAYLOADS[0]
        link.account.save()
        website.account.save()
        found = [_finding(link.website, number, text) for number, text in enumerate(PAYLOADS)]
        for number, text in enumerate(PAYLOADS):
            make_note(link.website, author=text, body=text)
            colleague = make_user(f"colleague-{number}", first_name=text[:150], last_name=text[:150])
            make_membership(colleague, website.account, role="viewer")
    return found


def _finding(website, number, text):
    source = make_source(f"hostile-{number}", name=text)
    fields = dict.fromkeys(("title", "description", "remediation", "evidence", "location", "rule"), text)
    finding = make_finding(
        website,
        source=source,
        severity_raw=text[:50],
        references=[f"https://example.com/{text}"],
        cve=[text],
        locations_count=2,
        **fields,
    )
    for place in (text, f"https://{website.host}/{text}"):
        make_occurrence(finding, location=place, evidence=text)
    make_note(website, finding=finding, author=text, body=text)
    make_event(finding, FindingEvent.Event.values[-1], by=text, reason=text)
    make_coverage(website, source=source, state=Coverage.State.FAILED, version=text[:50], detail=text)
    make_import_run(website, source=source, by=text, file_name=text, detail=text)
    make_standing_decision(website, source=source, rule=text, reason=text[:450], by=text)
    return finding


def look(page, address):
    page.goto(address)
    assert page.evaluate(MARKUP) == [], address


def test_a_finding_shows_every_text_as_text(open_page, owner, hostile):
    page = open_page(user=owner)
    for finding, payload in zip(hostile, PAYLOADS, strict=True):
        look(page, f"{PATH}findings/{finding.pk}/")
        assert payload in page.locator("main").text_content()


def test_a_title_without_escaping_is_noticed(open_page, owner, link, watch, monkeypatch):
    finding = _finding(link.website, 0, "<marquee>x</marquee><script>alert(1)</script>")
    page = open_page(user=owner)
    with monkeypatch.context() as patch:
        patch.setattr("django.template.base.render_value_in_context", lambda value, _: str(value))
        page.goto(f"{PATH}findings/{finding.pk}/")
        assert any("marquee" in found for found in page.evaluate(MARKUP))
        eventually(page, lambda: any("script-src" in complaint for complaint in watch.complaints))
    look(page, f"{PATH}findings/{finding.pk}/")
    watch.complaints.clear()


def test_lists_and_other_pages_show_every_text_as_text(open_page, owner, hostile):
    page = open_page(user=owner)
    look(page, f"{PATH}?page_size=100&status=all")
    assert [text for text in PAYLOADS if text not in page.locator("main").text_content()] == []
    for address in ("", "report/", "scans/", "new/"):
        look(page, f"{PATH}{address}")
    for address in ("/", "/team/", "/activity/", "/new/", "/shares/", "/api/", "/plan/", "/accounts/"):
        look(page, address)


def test_a_search_and_a_filter_show_what_was_asked_for_as_text(open_page, owner, website):
    page = open_page(user=owner)
    for payload in PAYLOADS[::3]:
        look(page, f"{PATH}?query={quote(payload)}&source={quote(payload)}")


def test_a_search_marks_its_words_in_every_text_as_text(open_page, owner, hostile):
    page = open_page(user=owner)
    for payload in PAYLOADS[::9]:
        look(page, f"{PATH}?query={quote(payload)}")
        expect(page.locator("main mark")).not_to_have_count(0)


def test_pages_for_staff_show_every_text_as_text(open_page, link, hostile):
    with transaction.atomic():
        for number, text in enumerate(PAYLOADS):
            ask(link, hostile[0], text=text, by=f"user-{number}")
        cases.disagree(dispute(link, hostile[1]), by="bob", person="", text=PAYLOADS[1], now=timezone.now())
        answer(link, hostile[2], act="fixed", by="", name=PAYLOADS[0])
    page = open_page(user=make_user("root", is_staff=True, is_superuser=True))
    for address in STAFF_PAGES:
        look(page, f"/admin/dashboard_api/{address}")
    look(page, "/admin/auth/user/?all=")
    for finding in hostile[::4]:
        look(page, f"/admin/dashboard_api/finding/{finding.pk}/change/")


OBEYED = (
    "<div id=results><form hx-post=/team/1/invite/ hx-trigger=load hx-include=[name=csrfmiddlewaretoken]>"
    "<input name=email value=eve@example.org><input name=role value=owner></form></div>"
)


def test_a_link_of_a_note_to_a_file_loads_the_file_and_its_texts_are_no_markup(
    open_page, owner, link, service
):
    make_finding(link.website, title=OBEYED)
    make_note(link.website, body=f"See [the file]({service.url}{PATH}findings.json).", is_pinned=True)
    page = open_page(user=owner)
    page.goto(PATH)
    with page.expect_download() as download:
        page.get_by_role("link", name="the file").click()
    assert download.value.suggested_filename.endswith(".json")
    expect(page.locator("#results .finding-row")).not_to_have_count(0)


def test_a_file_that_a_request_of_htmx_loads_is_not_shown_as_a_page(open_page, owner, link, watch):
    watch.expect("Response Status Error Code 200")
    make_finding(link.website, title=OBEYED)
    page = open_page(user=owner)
    page.goto(PATH)
    page.evaluate("(url) => htmx.ajax('get', url, '#results').catch(() => {})", f"{PATH}findings.json")
    expect(page.locator("#connection-error")).to_be_visible()
    assert page.locator("[hx-post^='/team/'], [value='eve@example.org']").count() == 0
