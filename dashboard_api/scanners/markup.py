"""Texts that scanners wrap in HTML: paragraphs and formatting go, everything else stays as the text it is.

What looks like a tag but formats nothing, such as a payload that is spoken of, stays: pages escape it.
"""

import re

_FORMATTING = "p|br|hr|ul|ol|li|div|span|b|i|u|em|strong|code|pre|tt|a|h[1-6]|table|tbody|thead|tr|td|th|font"
_BREAK = re.compile(r"</?(?:p|br|hr|ul|ol|li|div|pre|h[1-6]|table|tr)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{_FORMATTING})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BLANK_LINES = re.compile(r"[ \t]*\n(?:[ \t]*\n)+")


def plain_text(markup: str) -> str:
    """``markup`` without tags that format; a block begins a line of its own."""
    text = _TAG.sub("", _BREAK.sub("\n", markup))
    return _BLANK_LINES.sub("\n", text).strip()
