"""Checks of a website's domain, with about ten queries to our resolvers, and their report."""

from collections.abc import Iterator
from typing import Any

from dashboard_api.crawler.essentials.lines import Incomplete, lines_of
from dashboard_api.crawler.essentials.page import Checked, Problem, Result
from foundation.addresses.domains import is_public_suffix, parents_of, registrable_domain, registry_suffix
from foundation.outbound.deadline import Deadline
from foundation.outbound.name_servers import is_bogus, records_of, text_of
from foundation.outbound.names import NoAddress

SECONDS = 20.0  # for all queries
_SPF = "v=spf1"
_DMARC = {"v": "dmarc1"}  # the first tag of a DMARC record
_EVERYONE = {"all", "+all"}  # parts of an SPF record


def report(host: str) -> Iterator[dict[str, Any]]:
    """Yield the report lines for the domain of ``host``; a failing resolver makes it a failed check."""
    return lines_of("dns", "DNS", host, _problems(host, Deadline(SECONDS)))


def _problems(host: str, deadline: Deadline) -> Iterator[Result]:
    """Yield the problems; raise Incomplete if a resolver fails."""
    domain = registrable_domain(host) or host
    checks = (
        _signatures(domain, deadline),
        _authorities(host, deadline),
        _mail(host, domain, deadline),
        _aliases(host, domain, deadline),
    )
    try:
        for check in checks:
            for rule, evidence in check:
                yield Problem(rule, host, evidence)
    except NoAddress as error:
        raise Incomplete(error.reason) from error
    yield Checked(host)


def _signatures(domain: str, deadline: Deadline) -> Iterator[tuple[str, str]]:
    if is_bogus(domain, deadline):
        yield "dnssec-bogus", f"A validating resolver refuses {domain}, and answers with checking disabled."
    elif not records_of(domain, "DS", deadline).values:
        yield "dnssec-missing", f"{domain} has no DS record."


def _authorities(host: str, deadline: Deadline) -> Iterator[tuple[str, str]]:
    """Check CAA as authorities do (RFC 8659): at the host, and then at each name above."""
    names = [host, *parents_of(host)]
    if not any(records_of(name, "CAA", deadline).values for name in names):
        yield "caa-missing", f"No CAA record at {', '.join(names)}."


def _mail(host: str, domain: str, deadline: Deadline) -> Iterator[tuple[str, str]]:
    """Check SPF and DMARC, except for a platform's name without a zone: its owner can set neither."""
    suffix = domain.partition(".")[2]  # such as github.io, which belongs to a company and not to a registry
    is_of_company = is_public_suffix(suffix) and registry_suffix(domain) != suffix
    if not is_of_company or records_of(domain, "NS", deadline).values:
        yield from _senders(domain, deadline)
        yield from _forged_mail(host, domain, deadline)


def _senders(domain: str, deadline: Deadline) -> Iterator[tuple[str, str]]:
    # The blanks: the version is a whole word, or the whole record.
    found = [text for text in _texts(domain, deadline) if f"{text} ".lower().startswith(f"{_SPF} ")]
    if len(found) != 1:
        reason = "No TXT record begins with" if not found else "Receivers ignore several records with"
        yield "spf-missing", f"{reason} {_SPF} at {domain}."
    elif _EVERYONE & set(found[0].lower().split()):
        yield "spf-allows-everyone", found[0]


def _forged_mail(host: str, domain: str, deadline: Deadline) -> Iterator[tuple[str, str]]:
    """Check DMARC as receivers do (RFC 7489): of the host, or else of its domain."""
    for name in dict.fromkeys((host, domain)):
        texts = _texts(f"_dmarc.{name}", deadline)
        found = [text for text in texts if _tags(text.partition(";")[0]) == _DMARC]
        if len(found) > 1:
            break  # receivers ignore all of them and stop looking
        if found:
            tags = _tags(found[0])
            # "sp" is the policy for names below the domain, "p" for its own name, and the default of "sp".
            policy = tags.get("sp", tags.get("p")) if name != host else tags.get("p")
            if policy not in ("quarantine", "reject"):
                yield "dmarc-not-enforced", found[0]
            return
    yield "dmarc-missing", f"No DMARC record that counts at _dmarc.{name}."


def _aliases(host: str, domain: str, deadline: Deadline) -> Iterator[tuple[str, str]]:
    """Check CNAMEs of the website's name, and of its name with or without www."""
    twins = {domain: f"www.{domain}", f"www.{domain}": domain}
    names = [host, twins[host]] if host in twins else [host]
    found = [(name, records_of(name, "A", deadline)) for name in names]
    lines = [
        f"{name} is a CNAME of {records.alias}, which does not exist."
        for name, records in found
        if records.alias and not records.exists
    ]
    if lines:
        yield "cname-dangling", "\n".join(lines)


def _texts(name: str, deadline: Deadline) -> list[str]:
    return [text_of(record) for record in records_of(name, "TXT", deadline).values]


def _tags(record: str) -> dict[str, str]:
    """Return the tags of a DMARC record, in lower case."""
    pairs = (tag.partition("=") for tag in record.lower().split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs}
