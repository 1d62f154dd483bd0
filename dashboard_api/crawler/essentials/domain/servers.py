"""Checks of the servers that a domain names: MX and NS records to names that do not exist."""

from collections.abc import Iterable, Iterator

from dashboard_api.crawler.essentials.domain.site import Site

_MOST = 8  # servers of one kind that are looked up
OF_MAIL, OF_NAMES = ("mx-dangling",), ("ns-dangling",)


def check_mail_servers(site: Site) -> Iterator[tuple[str, str]]:
    """Check the MX records."""
    if lines := _missing(site, "MX", site.mail_servers()):
        yield "mx-dangling", "\n".join(lines)


def check_name_servers(site: Site) -> Iterator[tuple[str, str]]:
    """Check the NS records."""
    records = site.lookups.records(site.domain, "NS").values
    if lines := _missing(site, "NS", {str(record.target).rstrip(".").lower() for record in records}):
        yield "ns-dangling", "\n".join(lines)


def _missing(site: Site, kind: str, servers: Iterable[str]) -> list[str]:
    names = sorted(servers)[:_MOST]
    site.lookups.prepare(names, "A")
    return [
        f"{site.domain} has an {kind} record for {name}, which does not exist."
        for name in names
        if not site.lookups.records(name, "A").exists
    ]
