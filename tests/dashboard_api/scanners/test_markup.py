import pytest

from dashboard_api.scanners.markup import plain_text


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
