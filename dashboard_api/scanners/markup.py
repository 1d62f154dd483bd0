"""Texts that scanners wrap in HTML: paragraphs and formatting go, everything else stays as the text it is.

What looks like a tag but formats nothing, such as a payload that is spoken of, stays: pages escape it.
"""

import re

_FORMATTING = "p|br|hr|ul|ol|li|div|span|b|i|u|em|strong|code|pre|tt|a|h[1-6]|table|tbody|thead|tr|td|th|font"
_BREAK = re.compile(r"</?(?:p|br|hr|ul|ol|li|div|pre|h[1-6]|table|tr)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{_FORMATTING})(?:\s[^<>]*)?/?>", re.IGNORECASE)


def plain_text(markup: str) -> str:
    """``markup`` without tags that format, nor blank lines; a block begins a line of its own."""
    lines = _TAG.sub("", _BREAK.sub("\n", markup)).split("\n")
    return "\n".join(line.rstrip() for line in lines if line.strip())
