"""Safe HTML from the Markdown of analysts' notes and of messages."""

import re
from collections.abc import Iterable

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from foundation.texts.words import on_one_line

_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
# Of one note: the parser searches the rest of the paragraph for the end of a link, once for each bracket.
MAX_LINK_SEARCH_STEPS = 3_000_000
_TAG = re.compile(r"(<[^>]*>)")
_LINK_OR_CODE = re.compile(r"</?(?:a|code|pre)\b")
_markdown = MarkdownIt("js-default", {"html": False, "linkify": False}).disable("image")
_without_links = MarkdownIt("js-default", {"html": False, "linkify": False}).disable(["image", "link"])


def render_note(text: str) -> SafeString:
    """Return ``text`` as HTML without active content: raw HTML becomes text, and links must be http(s).

    Headings become paragraphs, because the page has its own outline. A text with too many brackets is
    rendered without links.
    """
    tokens = _parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "p"
            token.attrs = {"class": "heading"}
    html = nh3.clean(
        _markdown.renderer.render(tokens, _markdown.options, {}),
        tags=_TAGS,
        attributes={"*": set(), "a": {"href"}},
        attribute_filter=_only_outside,
        allowed_classes={"p": {"heading"}},
        url_schemes={"http", "https"},
        url_relative="deny",
        link_rel="noopener noreferrer",
    )
    return mark_safe(html)  # noqa: S308 - the parser escapes HTML, and nh3 has cleaned the rest


def plain_text(text: str) -> str:
    """Return the words of ``text`` on one line, without marks and the targets of links."""
    blocks = (token.children or [token] for token in _parse(text))
    parts = ("".join(part.content or " " * part.type.endswith("break") for part in block) for block in blocks)
    return on_one_line(" ".join(parts))


def _parse(text: str) -> list[Token]:
    steps = sum(part.count("[") * len(part) for part in text.split("\n\n"))
    parser = _markdown if steps <= MAX_LINK_SEARCH_STEPS else _without_links
    return parser.parse(text)


def _only_outside(_tag: str, name: str, value: str) -> str | None:
    """Drop links such as ``https:/path``, which browsers resolve against our own site."""
    is_ours = name == "href" and not value.lower().startswith(("https://", "http://"))
    return None if is_ours else value


def highlight_mentions(html: SafeString, names: Iterable[str]) -> SafeString:
    """Return the HTML of a text with ``@name`` in bold for each of ``names``; not in links and code."""
    by_length = sorted(map(escape, names), key=len, reverse=True)
    if not by_length or "@" not in html:
        return html
    anyone = "|".join(map(re.escape, by_length))
    mention = re.compile(rf"(?<![\w.@+-])@(?:{anyone})(?![\w@+-])", re.IGNORECASE)
    parts, inside = [], 0  # in how many links and pieces of code the text is
    for part in _TAG.split(html):
        if _LINK_OR_CODE.match(part):
            inside += -1 if part.startswith("</") else 1
        elif not inside and not part.startswith("<"):
            part = mention.sub(r"<strong>\g<0></strong>", part)
        parts.append(part)
    return mark_safe("".join(parts))  # noqa: S308 - safe HTML, and escaped names in it
