import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard_api.ownership.markup import is_markup, title_of, verification_tags

TAG = '<meta name="proof" content="here">'
PARTS = [
    "<![",
    "<!",
    "<!--",
    "-->",
    "]>",
    "]]>",
    "CDATA[",
    "foo",
    "<?",
    "<",
    "</",
    '"',
    "=",
    "&#x110000;",
    "&#" + "1" * 5_000,
    "\0",
    TAG,
]


@pytest.mark.parametrize(
    "before",
    ["<![foo]>", "<![endif]-->", "<![if !IE]>", "<![CDATA[a]]>", "<?php a ?>", "<!DOCTYPE a [", "</p>"],
)
def test_odd_markup_before_a_tag_is_skipped_as_a_browser_does(before):
    end = ">" if before.endswith("[") else ""
    assert verification_tags(f"<head>{before}{end}{TAG}", "proof")[:2] == (["here"], [])


@given(st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=5)), max_size=12).map("".join))
def test_no_page_is_an_error(page):
    body = page.encode("utf-8", "surrogatepass")
    in_head, outside, _ = verification_tags(page, "proof")
    assert set(in_head + outside) <= {"here"} or "<meta" in page
    assert isinstance(title_of(body) + str(is_markup(body)), str)


def test_a_title_is_read_as_text():
    assert title_of(b"<html><TITLE lang='de'> Caf&eacute; &amp; Bar\n</title>") == "Café & Bar"
    assert title_of(b"a file") == ""


def test_a_number_of_thousands_of_digits_in_a_page_is_no_error():
    number = "&#" + "1" * 5_000 + ";"
    page = f'<head><title>{number}</title><meta name="other" content="{number}">{TAG}</head>{number}'
    assert verification_tags(page, "proof")[:2] == (["here"], [])
    assert title_of(page.encode()) == "\ufffd"
