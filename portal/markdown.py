"""Analysts' notes: Markdown to safe HTML."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_markdown = MarkdownIt("js-default", {"html": False, "linkify": False}).disable("image")


def render_note(text: str) -> SafeString:
    """Return ``text`` as HTML without active content: raw HTML shows as text, links lead to http(s) only.

    Headings become paragraphs, because the page has its own outline.
    """
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "p"
            token.attrs = {"class": "heading"}
    html = nh3.clean(
        _markdown.renderer.render(tokens, _markdown.options, {}),
        tags=_TAGS,
        attributes={"*": set(), "a": {"href"}},
        allowed_classes={"p": {"heading"}},
        url_schemes={"http", "https"},
        url_relative="deny",
        link_rel="noopener noreferrer",
    )
    return mark_safe(html)  # noqa: S308 - html is off in the parser, and nh3 has cleaned the rest
