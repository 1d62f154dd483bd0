import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard_api.scanners.text import (
    clean,
    html_text,
    one_line,
    plain_text,
    slug,
    within_bytes,
    without_numbers,
)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\x00b\x07c", "abc"),
        ("a\x7fb\x85c", "abc"),
        ("first\r\nsecond\rthird", "first\nsecond\nthird"),
        ("a\tb", "a\tb"),
        ("\x1b[31;1mred\x1b[0m", "red"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("<b>é 漢</b>", "<b>é 漢</b>"),
    ],
)
def test_clean_text_has_nothing_invisible(text, cleaned):
    assert clean(text) == cleaned


@given(st.text(st.characters(codec=None)))
def test_clean_text_can_be_stored_and_stays_as_it_is(text):
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert "\x00" not in cleaned
    cleaned.encode()


def test_one_line_has_single_spaces():
    assert one_line("  Exposed\n\n panel\t here ") == "Exposed panel here"


@given(st.text(), st.integers(0, 40))
def test_cut_text_is_a_beginning_within_the_limit(text, limit):
    text = clean(text)
    start = within_bytes(text, limit)
    assert text.startswith(start)
    assert len(start.encode()) <= limit
    rest = text[len(start) :]
    assert not rest or len((start + rest[0]).encode()) > limit


def test_numbers_are_no_part_of_an_identity():
    assert without_numbers("51.17 of 1,000 ") == "#.# of #,#"


@pytest.mark.parametrize(("name", "short"), [("OWASP ZAP", "owasp-zap"), ("É/b__2", "e-b-2"), ("漢", "")])
def test_slug_has_plain_letters_digits_and_hyphens(name, short):
    assert slug(name) == short


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>One.</p><p>Two.</p>", "One.\nTwo."),
        ("<P class='x'>One</P>", "One"),
        ("a<br/>b<br>c", "a\nb\nc"),
        ("<ul><li>One</li><li><b>Two</b></li></ul>", "One\nTwo"),
        ('<a href="https://a.example">here</a>', "here"),
        ("Never write <script> or </textarea>.", "Never write <script> or </textarea>."),
        ("1 < 2 and &lt;p&gt;", "1 < 2 and &lt;p&gt;"),
        ("a\n \n\n b", "a\n b"),
        ("<p></p>", ""),
    ],
)
def test_formatting_goes_and_the_rest_stays(markup, text):
    assert plain_text(markup) == text


def test_long_white_space_takes_no_long_time():
    assert plain_text(" " * 1_000_000 + "x") == " " * 1_000_000 + "x"


def test_a_number_of_thousands_of_digits_in_html_is_no_character():
    assert html_text(f"<p>a&#{'9' * 5_000};b &#{'0' * 5_000}65;</p>") == "a\ufffdb A"
