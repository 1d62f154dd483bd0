import re
from html import unescape

import pytest
from django.utils.html import escape
from hypothesis import given
from hypothesis import strategies as st

from portal.texts.highlighting import highlight

WORDS = st.text(st.sampled_from("aAbé e\u0301ßsS1½ﬁΣς<&'-_/"), max_size=12)


@pytest.mark.parametrize(
    ("text", "search", "html"),
    [
        ("SQL injection", "sql", "<mark>SQL</mark> injection"),
        ("SQL injection", "inj", "SQL <mark>inj</mark>ection"),
        ("SQL injection in sqlite", "sql injection", "<mark>SQL</mark> <mark>injection</mark> in sqlite"),
        ("SQL injection", "inj sql", "<mark>SQL</mark> injection"),
        ("a rejection", "ject", "a rejection"),
        ("Café login", "CAFE", "<mark>Café</mark> login"),
        ("Cafe\u0301\u0302 login", "cafe", "<mark>Cafe\u0301\u0302</mark> login"),
        ("Cafe\u0301", "cafe", "<mark>Cafe\u0301</mark>"),
        ("Große Straße", "stras", "Große <mark>Straß</mark>e"),
        ("ﬁle ½ Ⅳ", "file 1 iv", "<mark>ﬁle</mark> <mark>½</mark> <mark>Ⅳ</mark>"),
        ("https://shop.example.com/a_b", "a", "https://shop.example.com/<mark>a</mark>_b"),
        ("<b>bold</b> & more", "b amp", "&lt;<mark>b</mark>&gt;bold&lt;/<mark>b</mark>&gt; &amp; more"),
        ("Anything", "", "Anything"),
        ("Anything", "%'\"", "Anything"),
        ("", "words", ""),
    ],
)
def test_search_matches_are_highlighted_in_their_own_spelling(text, search, html):
    assert highlight(text, search) == html


@given(st.text() | WORDS, st.text() | WORDS)
def test_without_its_marks_it_is_the_escaped_text(text, search):
    assert re.sub("</?mark>", "", highlight(text, search)) == escape(text)


@given(WORDS, WORDS)
def test_only_matching_words_are_highlighted(text, search):
    for found in re.findall("<mark>(.*?)</mark>", highlight(text, search)):
        assert search.strip()
        assert highlight(unescape(found), search) == f"<mark>{found}</mark>"
