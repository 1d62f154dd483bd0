"""Content-Security-Policy: which scripts it lets run, and which websites may frame the page."""

import re
from collections.abc import Iterable, Iterator, Sequence

from foundation.addresses.domains import is_public_suffix
from foundation.addresses.hosts import covers

Directives = dict[str, set[str]]  # the sources of each directive of one policy

_ANYONE = re.compile(r"https?:|(https?://)?\*(:(\d+|\*))?(/.*)?")  # a source that matches every website
# Sources with which browsers ignore unsafe-inline.
_STRICT = re.compile(r"'(nonce|sha256|sha384|sha512)-[a-z0-9+/_-]+={0,2}'|'strict-dynamic'")
_NONCE_OR_DYNAMIC = re.compile(r"'nonce-[a-z0-9+/_-]+={0,2}'|'strict-dynamic'")
_HOST = re.compile(r"(?:https?://)?(\*\.)?([^/:*']+)(?::[0-9*]+)?(/.*)?")
# Domains whose customers choose a name below them, next to those on the Public Suffix List.
_OF_ANY_CUSTOMER = {"amazonaws.com", "b-cdn.net", "fastly.net", "googleusercontent.com", "windows.net"}
# Hosts that serve files that anyone can publish.
_OF_ANY_PUBLISHER = re.compile(
    r"(cdn\.|fastly\.)?jsdelivr\.net|unpkg\.com|esm\.sh|storage\.googleapis\.com|cdn\.shopify\.com"
    r"|s3([.-][a-z0-9-]+)?\.amazonaws\.com"
)
# Hosts whose libraries (AngularJS) or replies (JSONP) run what an injected element asks for.
_WITH_BYPASS = (
    *("accounts.google.com", "cse.google.com", "translate.google.com", "www.google.com", "www.gstatic.com"),
    *("ajax.googleapis.com", "maps.googleapis.com", "translate.googleapis.com", "www.googleapis.com"),
    *("cdnjs.cloudflare.com", "cdn.bootcss.com", "code.angularjs.org", "graph.facebook.com", "yastatic.net"),
)
_ALL_FILES = {"", "/", "/npm/", "/gh/", "/ajax/", "/ajax/libs/"}
_IGNORED_IN_PAGES = {"frame-ancestors", "report-uri", "sandbox"}  # browsers read these in headers only


def policies_of(header: str, in_page: Sequence[str] = ()) -> list[Directives]:
    """Return the directives of each policy of a header and of a page; browsers apply all policies."""
    sent = [directives for policy in header.split(",") if (directives := _directives(policy))]
    for policy in ", ".join(in_page).split(","):
        directives = _directives(policy)
        if directives:
            sent.append({name: directives[name] for name in directives.keys() - _IGNORED_IN_PAGES})
    return sent


def _directives(policy: str) -> Directives:
    parts = [part.split() for part in policy.lower().split(";") if part.split()]
    return {name: set(values) for name, *values in reversed(parts)}  # the first of duplicates counts


def why_scripts_run(policies: Iterable[Directives]) -> str:
    """Return why an injected script runs under all of these policies; empty if one stops it."""
    policies = list(policies)
    limits_base = any(not _anyone(each["base-uri"]) for each in policies if "base-uri" in each)
    reasons = [_reason(each, limits_base=limits_base) for each in policies]
    return "\n".join(dict.fromkeys(reasons)) if all(reasons) else ""


def allows_framing(policies: Iterable[Directives]) -> bool | None:
    """Return whether every website may frame the page; None if the policies do not say."""
    deciding = [each["frame-ancestors"] for each in policies if "frame-ancestors" in each]
    return all(_anyone(sources) for sources in deciding) if deciding else None


def _reason(directives: Directives, *, limits_base: bool) -> str:
    """Return why an injected script runs: as an element, as an attribute such as onclick, or by eval."""
    if "sandbox" in directives and "allow-scripts" not in directives["sandbox"]:
        return ""
    sources = directives.get("script-src", directives.get("default-src"))
    elements = directives.get("script-src-elem", sources)
    attributes = directives.get("script-src-attr", sources)
    if sources is None or elements is None or attributes is None:
        return "No directive limits scripts: script-src and default-src are missing."
    return next(filter(None, _reasons(sources, elements, attributes, limits_base=limits_base)), "")


def _reasons(
    sources: set[str], elements: set[str], attributes: set[str], *, limits_base: bool
) -> Iterator[str]:
    if _allows_inline(elements) or _allows_inline(attributes):
        yield "'unsafe-inline' lets injected scripts run."
    if "'strict-dynamic'" not in elements:
        if anyone := "data:" if "data:" in elements else _anyone(elements):
            yield f"{anyone} allows scripts of every website."
        yield from _wide(elements)
    if "'unsafe-eval'" in sources:
        yield "'unsafe-eval' lets injected texts run as scripts."
    is_by_nonce = any(_NONCE_OR_DYNAMIC.fullmatch(source) for source in elements)
    if is_by_nonce and not limits_base:
        yield "Without base-uri, an injected base element makes trusted scripts load from another website."


def _allows_inline(sources: set[str]) -> bool:
    """Return whether inline scripts run; a nonce, a hash or strict-dynamic turns unsafe-inline off."""
    return "'unsafe-inline'" in sources and not any(map(_STRICT.fullmatch, sources))


def _anyone(sources: set[str]) -> str:
    """Return the source that matches every website, if there is one."""
    return next(filter(_ANYONE.fullmatch, sorted(sources)), "")


def _wide(sources: set[str]) -> Iterator[str]:
    """Yield why sources with a host stop nobody, such as those of all customers of a hoster."""
    for source in sorted(sources):
        match = _HOST.fullmatch(source)
        wildcard, host, path = match.groups() if match else ("", "", "")
        has_all_files = (path or "") in _ALL_FILES
        is_of_any_customer = bool(wildcard) and (is_public_suffix(host) or host in _OF_ANY_CUSTOMER)
        if is_of_any_customer or (has_all_files and not wildcard and _OF_ANY_PUBLISHER.fullmatch(host)):
            yield f"{source} allows scripts that anyone can publish."
        elif has_all_files and any(covers(host, each) if wildcard else host == each for each in _WITH_BYPASS):
            yield f"{source} has libraries or replies that run injected texts as scripts."
