"""What the portal marks in a text is what the service found it by."""

from hypothesis import given
from hypothesis import strategies as st

from foundation.words import MAX_WORD_LENGTH
from foundation.words import words_of as found_by
from portal.marking import words_of as marked_by


@given(st.text())
def test_portal_and_service_read_the_same_words(text):
    assert [word[:MAX_WORD_LENGTH] for word in marked_by(text)] == found_by(text)


def test_portal_and_service_read_every_character_alike():
    characters = [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    assert [marked_by(character) for character in characters] == [found_by(it) for it in characters]
