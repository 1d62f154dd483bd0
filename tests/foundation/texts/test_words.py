import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.texts.words import MAX_WORD_LENGTH, fold_with_origins, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Cross-Site Scripting", ["cross", "site", "scripting"]),
        ("CVE-2024-12345", ["cve", "2024", "12345"]),
        ("https://shop.example.com/a_b?c=d", ["https", "shop", "example", "com", "a", "b", "c", "d"]),
        ("Café crème", ["cafe", "creme"]),
        ("STRASSE Straße STRAẞE", ["strasse", "strasse", "strasse"]),
        ("İstanbul", ["istanbul"]),
        ("ﬁle \uff37\uff29\uff24\uff25 5㎒", ["file", "wide", "5mhz"]),
        ("Ελλάδα ΟΔΟΣ οδός", ["ελλαδα", "οδοσ", "οδοσ"]),
        ("100%", ["100"]),
        ("a\ud800b", ["a", "b"]),
        (" \t\n-_%'\"\0", []),
    ],
)
def test_words_have_no_case_accents_or_punctuation(text, words):
    assert words_of(text) == words


@given(st.text())
def test_words_are_found_again_in_themselves(text):
    words = words_of(text)
    assert words_of(" ".join(words)) == words


def test_the_end_of_a_very_long_word_does_not_count():
    assert words_of("b" * MAX_WORD_LENGTH + "c d") == ["b" * MAX_WORD_LENGTH, "d"]


def words_to_highlight(text):
    folded, _ = fold_with_origins(text)
    return [word[:MAX_WORD_LENGTH] for word in folded.split()]


@given(st.text())
def test_the_same_words_are_found_and_highlighted(text):
    assert words_to_highlight(text) == words_of(text)


@pytest.mark.slow
@pytest.mark.once
def test_every_character_is_read_alike_when_found_and_highlighted():
    characters = [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    text = " ".join(characters)
    assert words_to_highlight(text) == words_of(text)


@given(st.text(max_size=40))
def test_every_folded_character_has_its_origin(text):
    folded, origins = fold_with_origins(text)
    assert len(origins) == len(folded) + 1
    assert list(origins) == sorted(origins)
    assert origins[-1] == len(text)
