"""Checks of the zone itself: its DNSSEC signatures, and the authorities that may issue certificates."""

from collections.abc import Iterator

from dashboard_api.crawler.essentials.domain.site import Site
from foundation.addresses.domains import parents_of
from foundation.outbound.name_servers import is_bogus

OF_AUTHORITIES = ("caa-missing",)


def check_signatures(site: Site) -> Iterator[tuple[str, str]]:
    """Check DNSSEC; raise NoAddress."""
    if is_bogus(site.domain, site.deadline):
        evidence = f"A validating resolver refuses {site.domain}, and answers with checking disabled."
        yield "dnssec-bogus", evidence
    elif not site.lookups.records(site.domain, "DS").values:
        yield "dnssec-missing", f"{site.domain} has no DS record."


def check_authorities(site: Site) -> Iterator[tuple[str, str]]:
    """Check CAA as authorities do (RFC 8659): only the first name with records counts, from the host upwards.

    Records without ``issue`` limit nobody: ``iodef`` takes reports, and ``issuewild`` is about wildcards.
    """
    names = [site.host, *parents_of(site.host)]
    for name in names:
        records = site.lookups.records(name, "CAA").values
        tags = sorted({record.tag.decode("ascii", "replace").lower() for record in records})
        if tags:
            if "issue" not in tags:
                yield "caa-missing", f"The CAA records of {name} have no issue, only {', '.join(tags)}."
            return
    yield "caa-missing", f"No CAA record at {', '.join(names)}."
