"""A report about the domain of a website, by up to 60 queries to our resolvers and five requests."""

import ssl
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from dashboard_api.crawler.essentials.domain import aliases, dmarc, mail_encryption, servers, signatures, spf
from dashboard_api.crawler.essentials.domain.registration import registration
from dashboard_api.crawler.essentials.domain.site import Site
from dashboard_api.crawler.essentials.lines import Incomplete, lines_of
from dashboard_api.crawler.essentials.page import Checked, Problem, Result, Unread
from foundation.addresses.domains import is_public_suffix, registrable_domain, registry_suffix
from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.names import NoAddress

SECONDS = 25.0  # for all queries and requests


class _Check(NamedTuple):
    """A check, which yields rules and evidence, and all rules that it may yield."""

    problems_of: Callable[[Site], Iterator[tuple[str, str] | Unread]]
    rules: Sequence[str]


_OF_MAIL = (
    _Check(spf.check, spf.RULES),
    _Check(dmarc.check, dmarc.RULES),
    _Check(servers.check_mail_servers, servers.OF_MAIL),
    _Check(mail_encryption.check_policy, mail_encryption.OF_POLICY),
    _Check(mail_encryption.check_reports, mail_encryption.OF_REPORTS),
)
_OF_NAMES = (
    _Check(signatures.check_authorities, signatures.OF_AUTHORITIES),
    _Check(servers.check_name_servers, servers.OF_NAMES),
    _Check(aliases.check_missing, aliases.OF_MISSING),
    _Check(aliases.check_platforms, aliases.OF_PLATFORMS),
)


def report(
    host: str,
    *,
    agent: str = "",
    never: Sequence[str] = (),
    tls: ssl.SSLContext | None = None,
    facts: dict[str, Any] | None = None,
    rdap: str = "",
) -> Iterator[dict[str, Any]]:
    """Yield the report lines for the domain of ``host``; add its registration to ``facts``, if given.

    A resolver that fails at the first query makes it a failed check; later failures concern one check.
    ``never`` lists hosts and address prefixes to which no request is sent. ``rdap`` is the address of the
    service that is asked for the registration.
    """
    domain = registrable_domain(host) or host
    site = Site(host=host, domain=domain, deadline=Deadline(SECONDS), agent=agent, never=never, tls=tls)
    yield from lines_of("dns", "DNS", host, _results(site))
    if facts is not None:
        facts["domain"] = registration(site, rdap)


def _results(site: Site) -> Iterator[Result]:
    """Yield the problems; raise Incomplete if a resolver fails at once."""
    try:
        for rule, evidence in signatures.check_signatures(site):
            yield Problem(rule, site.host, evidence)
        has_mail = _has_records_for_mail(site)
    except (NoAddress, DeadlinePassed) as error:
        raise Incomplete(error.reason if isinstance(error, NoAddress) else "timed_out") from error
    for check in (*_OF_NAMES, *(_OF_MAIL if has_mail else ())):
        yield from _results_of(check, site)
    yield Checked(site.host)


def _results_of(check: _Check, site: Site) -> Iterator[Result]:
    """Yield the problems of a check, or its rules as unread if records are unknown."""
    try:
        for result in list(check.problems_of(site)):  # all of them first: half a check proves little
            yield result if isinstance(result, Unread) else Problem(result[0], site.host, result[1])
    except NoAddress as error:
        yield Unread(site.host, check.rules, error.reason)
    except DeadlinePassed:
        yield Unread(site.host, check.rules, "timed_out")


def _has_records_for_mail(site: Site) -> bool:
    """Return whether the domain may have records for mail.

    A platform's name without a zone may not: its owner can set none.
    """
    suffix = site.domain.partition(".")[2]  # such as github.io, which belongs to a company, not to a registry
    is_of_company = is_public_suffix(suffix) and registry_suffix(site.domain) != suffix
    return not is_of_company or bool(site.lookups.records(site.domain, "NS").values)
