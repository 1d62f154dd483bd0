"""Checks of CNAMEs: targets that do not exist, and targets at platforms that nobody claimed."""

from collections.abc import Iterator

from dashboard_api.crawler.essentials.domain.platforms import Platform, platform_of
from dashboard_api.crawler.essentials.domain.site import Site
from dashboard_api.crawler.essentials.page import Unread
from foundation.outbound.fetch import Fetched, FetchFailed
from foundation.outbound.refusals import is_refusal
from foundation.texts.markup import text_of_html, text_of_page

OF_MISSING, OF_PLATFORMS = ("cname-dangling",), ("takeover-possible",)
# Names that domains often have: nobody can list those of a domain.
_USUAL = (
    *("www", "mail", "webmail", "smtp", "imap", "autodiscover", "autoconfig", "shop", "store", "blog", "app"),
    *("api", "cdn", "static", "assets", "img", "dev", "test", "staging", "status", "support", "help", "docs"),
)
_MOST_LINES = 10


def check_missing(site: Site) -> Iterator[tuple[str, str]]:
    """Check the CNAMEs of the website, and of the usual names below a whole domain."""
    names = [site.host]
    if site.twin():
        names += [site.domain, *(f"{name}.{site.domain}" for name in _USUAL)]
    names = list(dict.fromkeys(names))
    site.lookups.prepare(names, "A")
    found = [(name, site.lookups.records(name, "A")) for name in names]
    lines = [
        f"{name} is a CNAME of {' > '.join(records.aliases)}, which does not exist."
        for name, records in found
        if records.aliases and not records.exists
    ]
    if lines:
        yield "cname-dangling", "\n".join(lines[:_MOST_LINES])


def check_platforms(site: Site) -> Iterator[tuple[str, str] | Unread]:
    """Check whether a platform shows its own page at the website's name, with or without www."""
    for name in filter(None, (site.host, site.twin())):
        records = site.lookups.records(name, "A")
        platform = next(filter(None, map(platform_of, records.aliases)), None)
        if platform is None or not records.exists:
            continue
        try:
            page = _page(site, name)
        except FetchFailed as error:
            if error.reason != "redirected_away":  # a page of the website, elsewhere
                yield Unread(site.host, OF_PLATFORMS, error.reason)
            continue
        if text := _unclaimed(page, platform):
            way = " > ".join(records.aliases)
            yield "takeover-possible", f"{name} is a CNAME of {way}, where {platform.title} answers: “{text}”"
        elif page.status >= 500 or (is_refusal(page) and page.status != 401):
            yield Unread(site.host, OF_PLATFORMS, "server_error" if page.status >= 500 else "blocked")


def _page(site: Site, name: str) -> Fetched:
    """Return the home page; platforms have no certificate for a name that nobody claimed."""
    try:
        return site.fetch(f"http://{name}/", verify=False)
    except FetchFailed as error:
        if error.reason != "connect_failed":
            raise
        return site.fetch(f"https://{name}/", verify=False)


def _unclaimed(page: Fetched, platform: Platform) -> str:
    """Return the platform's words if its page says that nobody claimed the name."""
    if page.status < 400:  # a page of the website, which may write about such words
        return ""
    text = text_of_page(page.body, page.headers.get("Content-Type", "")) or ""
    found = platform.text.search(text_of_html(text))
    return found[0].strip() if found else ""
