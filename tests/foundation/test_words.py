import functools
import sys
import unicodedata

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foundation.words import MAX_WORD_LENGTH, fold_with_origins, words_of

ASSIGNED = [
    chr(code)
    for code in range(1, sys.maxunicode + 1)
    if unicodedata.category(chr(code)) not in {"Cn", "Cs", "Co"}
]
STORABLE = st.text(st.characters(exclude_categories=["Cn", "Cs"], exclude_characters="\0"))


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


def words_by_postgresql(texts):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tsvector_to_array("
            "dashboard_api_search_entries(7, 'open', 1, 'c', '', '', '', '', '', '[]', text, '')) "
            "FROM unnest(%s::text[]) WITH ORDINALITY AS given (text, number) ORDER BY number",
            [texts],
        )
        return [
            {entry.removeprefix("op7.") for entry in entries} - {"op7s1", "op7kc", "op7p", "op7h"}
            for (entries,) in cursor.fetchall()
        ]


@pytest.fixture
def _postgresql(db):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite asks words_of itself")


@functools.cache
def characters_of_postgresql():
    """Return the assigned characters that are the same to PostgreSQL, whose Unicode tables may be older."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT character, normalize(character, NFKD), character ~ '[[:graph:]]' COLLATE \"und-x-icu\" "
            "FROM unnest(%s::text[]) AS given (character)",
            [ASSIGNED],
        )
        return {
            character: None
            for character, decomposed, is_known in cursor.fetchall()
            if decomposed == unicodedata.normalize("NFKD", character)
            and (is_known or not (character.isalpha() or character.isdecimal()))
        }


@pytest.mark.usefixtures("_postgresql")
def test_postgresql_makes_the_same_words_of_every_character():
    known = list(characters_of_postgresql())
    if unicodedata.unidata_version == "14.0.0":
        assert known == ASSIGNED
    texts = [
        " ".join(f"a{character}B {character}" for character in characters)
        for characters in (known[start : start + 100] for start in range(0, len(known), 100))
    ]
    assert words_by_postgresql(texts) == [set(words_of(text)) for text in texts]


@pytest.mark.usefixtures("_postgresql")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(STORABLE, min_size=1))
def test_postgresql_makes_the_same_words_of_texts(texts):
    known = characters_of_postgresql()
    texts = ["".join(character for character in text if character in known) for text in texts]
    assert words_by_postgresql(texts) == [set(words_of(text)) for text in texts]


@pytest.mark.usefixtures("_postgresql")
@pytest.mark.parametrize("length", [MAX_WORD_LENGTH, MAX_WORD_LENGTH + 1, 3_000])
@pytest.mark.parametrize("letter", ["b", "ß"])
def test_postgresql_has_as_much_of_very_long_words_as_a_question_can_ask_for(letter, length):
    text = f"{letter * length} d"
    (words,) = words_by_postgresql([text])
    assert {word[:MAX_WORD_LENGTH] for word in words} == set(words_of(text))
