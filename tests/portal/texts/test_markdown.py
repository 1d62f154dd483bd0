import re
import time

import pytest

from portal.texts.markdown import highlight_mentions, plain_text, render_note

PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](&#x6A;avascript:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "[x](file:///etc/passwd)",
    "[x](//evil.example)",
    '[x](https://a.example/"onmouseover=alert(1))',
    "[x](https://a.example 'title\" onmouseover=alert(1)')",
    '<https://a.example/"onmouseover="alert(1)>',
    "<javascript:alert(1)>",
    "![x](https://tracker.example/pixel.png)",
    "![x](javascript:alert(1))",
    "[x]: javascript:alert(1)\n\n[x]",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "    <script>alert(1)</script>",
    "# <script>alert(1)</script>",
    "| a |\n|---|\n| <img src=x onerror=alert(1)> |",
    "> <style>*{display:none}</style>",
    "<details open ontoggle=alert(1)>",
    "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
    "<!--<img src='--><img src=x onerror=alert(1)>",
    "<p class=heading style='position:fixed'>over everything</p>",
    "<b>bold</b>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
]
ALLOWED_TAG = re.compile(
    r"</?(blockquote|br|code|del|em|hr|li|ol|p|pre|s|strong|table|tbody|td|th|thead|tr|ul)>"
    r'|<p class="heading">|<a href="https?://[^"<>]*" rel="noopener noreferrer">'
    r'|<a rel="noopener noreferrer">|</a>'
)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_note_never_holds_anything_active(payload):
    left = ALLOWED_TAG.sub("", render_note(payload))
    assert "<" not in left, left


@pytest.mark.parametrize("address", ["https:/admin/", "HTTPS:admin/", "http:/admin/", "https:\\\\admin"])
def test_a_note_does_not_lead_to_pages_of_ours(address):
    assert "href" not in render_note(f"[x]({address})")


def test_a_note_is_formatted():
    assert render_note("Please **update**, see [the guide](https://example.com/a?b=1&c=2).") == (
        '<p>Please <strong>update</strong>, see <a href="https://example.com/a?b=1&amp;c=2" '
        'rel="noopener noreferrer">the guide</a>.</p>\n'
    )


def test_headings_of_a_note_stay_out_of_the_outline_of_the_page():
    assert render_note("## Summary") == '<p class="heading">Summary</p>\n'


def test_bare_addresses_stay_text():
    assert "<a" not in render_note("https://example.com")


def test_raw_html_of_a_note_shows_as_text():
    assert render_note("<b>bold</b>") == "<p>&lt;b&gt;bold&lt;/b&gt;</p>\n"


def test_an_image_of_a_note_is_a_link_that_loads_nothing():
    assert render_note("![pixel](https://example.com/p.png)") == (
        '<p>!<a href="https://example.com/p.png" rel="noopener noreferrer">pixel</a></p>\n'
    )


def test_brackets_that_are_too_many_to_be_links_take_no_long_time():
    began = time.process_time()
    assert render_note("[" * 60_000) == f"<p>{'[' * 60_000}</p>\n"
    assert "<a" not in render_note("[a](https://example.com)" + "[a*" * 20_000)
    assert time.process_time() - began < 3
    assert render_note("[a](https://example.com)\n\n" * 1_000).count("<a ") == 1_000


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Please **update** it,\nsoon.\n\n# Why\n\n- one\n- `two`", "Please update it, soon. Why one two"),
        ("[here](https://x.example/) ![image](https://x.example/y.png)", "here !image"),
        ("<b>raw</b> \u202e\x1b[31m", "<b>raw</b> [31m"),
        ("```\ncode\n```", "code"),
        ("", ""),
    ],
)
def test_plain_text_has_the_words_alone_on_one_line(text, plain):
    assert plain_text(text) == plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ask @ada, please", "<p>Ask <strong>@ada</strong>, please</p>\n"),
        ("@ADA. @ada.l! @adam", "<p><strong>@ADA</strong>. <strong>@ada.l</strong>! @adam</p>\n"),
        ("mail@ada `@ada` @@ada", "<p>mail@ada <code>@ada</code> @@ada</p>\n"),
        ("@&lt;b&gt; @<b>", "<p>@&lt;b&gt; @&lt;b&gt;</p>\n"),
    ],
)
def test_members_who_are_mentioned_are_in_bold(text, expected):
    assert highlight_mentions(render_note(text), ["ada", "ada.l"]) == expected


def test_no_link_is_changed_by_a_mention():
    html = render_note("[by @ada](https://example.com/@ada)")
    assert highlight_mentions(html, ["ada"]) == html
