"""Notes as lines, with the meaning of their Markdown."""

import pytest

from portal.exports.note_lines import note_lines
from portal.texts.markdown import render_note


@pytest.mark.parametrize(
    ("markdown", "lines"),
    [
        ("Plain *words* &amp; `code`", [("", 0, "Plain words & code")]),
        ("One\nline\n\nand another", [("", 0, "One line"), ("", 0, "and another")]),
        ("- one\n- two", [("•", 1, "one"), ("•", 1, "two")]),
        ("1. one\n2. two\n\nafter", [("1.", 1, "one"), ("2.", 1, "two"), ("", 0, "after")]),
        ("- one\n\n  more\n\n- two", [("•", 1, "one"), ("", 1, "more"), ("•", 1, "two")]),
        ("1. one\n   - inner\n2. two", [("1.", 1, "one"), ("•", 2, "inner"), ("2.", 1, "two")]),
        ("[here](https://example.com/a)", [("", 0, "here (https://example.com/a)")]),
        ("<https://example.com/a>", [("", 0, "https://example.com/a")]),
        ("```\na  b\n\n c\n```", [("", 0, "a  b"), ("", 0, " c")]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [("", 0, "a  b"), ("", 0, "1  2")]),
        ("<b>no</b> markup", [("", 0, "<b>no</b> markup")]),
        ("", []),
    ],
)
def test_lines_have_the_markers_of_lists_and_the_urls_of_links(markdown, lines):
    result = note_lines(render_note(markdown))
    assert [(line.marker, line.depth, line.text.rstrip()) for line in result] == lines
