import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard_api.words import searchable, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Cross-Site Scripting", ["cross", "site", "scripting"]),
        ("CVE-2024-12345", ["cve", "2024", "12345"]),
        ("https://shop.example.com/a_b?c=d", ["https", "shop", "example", "com", "a", "b", "c", "d"]),
        ("Café crème", ["cafe", "creme"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("İstanbul", ["istanbul"]),
        ("ﬁle \uff37\uff29\uff24\uff25 5㎒", ["file", "wide", "5mhz"]),
        ("Ελλάδα", ["ελλαδα"]),
        ("100%", ["100"]),
        (" \t\n-_%'\"\0", []),
    ],
)
def test_words_have_no_case_accents_or_punctuation(text, words):
    assert words_of(text) == words


@given(st.text())
def test_words_are_found_again_in_themselves(text):
    words = words_of(text)
    assert words_of(" ".join(words)) == words


def test_searchable_text_holds_each_word_once_between_spaces():
    assert searchable("Old jQuery", "jquery 1.8", "") == " old jquery 1 8 "


def test_searchable_text_of_nothing_is_empty():
    assert searchable("", "...") == ""
