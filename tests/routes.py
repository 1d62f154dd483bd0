"""An address of every route, with example values for parameters."""

import re

from django.urls import URLPattern, get_resolver
from django.urls.resolvers import RegexPattern

# What a converter takes; the first that fits a named group of a regular expression, too.
EXAMPLES = {
    "int": "1",
    "str": "shop.example.com",
    "slug": "shop",
    "day": "2026-11-21",
    "uuid": "6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e",
    "path": "1",
    "uidb36": "1",
    "key": "set-password",
}
_PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")
_GROUP = re.compile(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)")


def every_path(patterns=None, prefix="/", **examples):
    """Return an address of each pattern, in the resolver's order; ``examples`` replace a converter's."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        path = prefix + _filled(pattern.pattern, EXAMPLES | examples)
        if isinstance(pattern, URLPattern):
            yield path
        else:
            yield from every_path(pattern.url_patterns, path, **examples)


def _filled(pattern, examples):
    text = str(pattern)
    if isinstance(pattern, RegexPattern):
        text = _GROUP.sub(lambda group: examples.get(group[1], "1"), text)
        text = re.sub(r"\(\?:([^()|]*)(?:\|[^()]*)*\)\??", r"\1", text)
        return text.removeprefix("^").removesuffix("$").replace("\\Z", "").replace("\\", "")
    return _PARAMETER.sub(lambda found: examples[found[1] or "str"], text)
