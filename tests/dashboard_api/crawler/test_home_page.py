"""The facts about a home page, and when two of them are the same page."""

import pytest
from urllib3 import HTTPHeaderDict

from dashboard_api.crawler.home_page import HomePage, home_page_of
from foundation.outbound.fetch import Fetched, Hop

HOST = "shop.example.com"
KNOWN = HomePage(
    title="Best shop: shoes and coats",
    links=20,
    script_hosts=("cdn.example.net", HOST),
    cookies=("basket", "session"),
    size=15,
    has_content=True,
    language="en",
    characters=3000,
)


def seen(html, headers=(("Content-Type", "text/html"),), url=f"https://{HOST}/"):
    found = HTTPHeaderDict(headers)
    body = html.encode()
    return home_page_of(
        Fetched(status=200, headers=found, body=body, is_whole=True, hops=(Hop(url, (), found, 200),)), HOST
    )


def like(**changes):
    return HomePage(**{name: getattr(KNOWN, name) for name in HomePage.__struct_fields__} | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"title": "Sale! Up to 70 %"},
        {"script_hosts": (), "cookies": ("__Host-sid",)},
        {"script_hosts": (), "links": 15, "size": 16},
        {"title": "Best shop: winter shoes", "links": 30, "cookies": ()},
        {"language": "", "characters": 1600},
    ],
)
def test_a_website_that_changes_in_part_is_the_same(changes):
    assert KNOWN.looks_like(like(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"has_content": False},
        {"language": "de"},
        {"characters": 1200},
        {"title": "For sale", "script_hosts": ("ads.example.org",), "cookies": ()},
        {"title": "New shop", "script_hosts": (), "links": 60},
    ],
)
def test_a_page_that_lost_its_content_or_changed_most_is_another(changes):
    assert not KNOWN.looks_like(like(**changes))


def test_a_redesign_has_text_outside_of_links_and_half_of_what_was_there():
    redesign = {"title": "New shop", "script_hosts": (), "cookies": (), "links": 60}
    assert like(**redesign, characters=1600, prose=900).can_replace(KNOWN)
    assert not like(**redesign, characters=1600, prose=150).can_replace(KNOWN)
    assert not like(**redesign, characters=1200, prose=900).can_replace(KNOWN)
    assert not like(has_content=False, prose=900).can_replace(KNOWN)


def test_pages_with_few_facts_are_compared_by_those_they_have():
    app = HomePage(title="Shop", script_hosts=(HOST,), size=10)
    assert app.looks_like(HomePage(title="Shop", script_hosts=(HOST,), size=10, cookies=("session",)))
    assert not app.looks_like(HomePage(title="Suspended", size=10))
    assert HomePage().looks_like(HomePage())
    assert not HomePage(size=11).looks_like(HomePage())


def test_the_facts_are_read_as_a_browser_without_scripts_reads_them():
    links = "".join(f"<a href='/{each}?from=home'>{each}</a>" for each in "abcd")
    page = seen(
        "<html lang=EN-gb><title>Best\n &amp; only \x01shop</title><svg><title>Icon</title></svg>"
        "<script src='/a.js'></script><script src='//www.shop.example.com/b.js'></script>"
        "<script src='https://cdn.example.net/c.js'></script><script>'<a href=/x>'</script>"
        f"{links}<a href='https://www.shop.example.com/e'>e</a><a href='https://example.net/f'>f</a>"
        "<a href='?page=2'>2</a><a href='#top'>top</a><a href='mailto:a@example.com'>to us</a>"
        "<a href='//['>x</a>"
        "<noscript><a href='/hidden'>hidden</a></noscript>" + "<p>Text.</p>" * 100,
        [
            ("Content-Type", "text/html"),
            ("Set-Cookie", "session=s3cr3t; Path=/"),
            ("Set-Cookie", "ASPSESSIONIDABCDEFGH=1"),
            ("Set-Cookie", "s3cr3t; Path=/"),
        ],
    )
    assert page == HomePage(
        title="Best & only shop",
        links=5,
        script_hosts=("cdn.example.net", HOST),
        cookies=("ASPSESSIONID", "session"),
        size=page.size,
        has_content=True,
        language="en",
        characters=len("abcdef2toptousx") + 500,
        prose=500,
    )


@pytest.mark.parametrize(
    ("more", "has_content"),
    [
        ("", True),
        ("<input type=password>", False),
        ("<meta name=robots content='noindex, nofollow'>", False),
    ],
)
def test_a_page_to_sign_in_or_that_is_hidden_from_search_engines_proves_nothing(more, has_content):
    links = "".join(f"<a href='/{each}'>{each}</a>" for each in "abcde")
    assert seen(f"{more}{links}{'<p>Text.</p>' * 100}").has_content == has_content
    assert not seen(f"{more}{links}<p>A sentence.</p>").has_content


def test_the_facts_are_limited():
    many = "".join(
        f"<script src='https://c{each}.example.net/'></script><a href=/{each}>x</a>" for each in range(99)
    )
    page = seen(f"<title>{'long ' * 100}</title>{many}")
    assert (len(page.title), len(page.script_hosts), page.links) == (100, 20, 99)


@pytest.mark.parametrize("html", ["", "\0\0", "text"])
def test_anything_has_facts(html):
    assert seen(html).links == 0
