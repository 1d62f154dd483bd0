"""Checks of MTA-STS (RFC 8461) and TLS-RPT (RFC 8460): whether mail to the domain must be encrypted."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dashboard_api.crawler.essentials.domain.site import Site
from dashboard_api.crawler.essentials.page import Unread
from foundation.outbound.fetch import Fetched, FetchFailed
from foundation.outbound.refusals import is_refusal

OF_POLICY = ("mta-sts-missing", "mta-sts-broken", "mta-sts-not-enforced", "mta-sts-other-servers")
OF_REPORTS = ("tls-rpt-missing",)
_LIKE_STS, _STS = re.compile(r"v=STSv1\b"), re.compile(r"v=STSv1\s*;(.*;)?\s*id=[A-Za-z0-9]{1,32}\s*(;.*)?")
_LIKE_RPT = re.compile(r"v=TLSRPTv1\b")
_RPT = re.compile(r"v=TLSRPTv1\s*;\s*rua=(mailto:[^@\s]+@|https://)[^;]+(;.*)?")
_LINE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*)[ \t]*:[ \t]*(.*?)[ \t]*")
_MODES = ("enforce", "testing", "none")
_MAX_AGE = 31_557_600  # seconds
# Failures of a request that say something about the website, and not about a bad moment.
_BROKEN = {
    "no_address": "the name has no address",
    "private_address": "the name has a private address",
    "tls_invalid": "the certificate is not valid for this name",
    "redirected_away": "it redirects, which senders do not follow",
    "redirect_loop": "it redirects, which senders do not follow",
    "wrong_url": "the address is wrong",
}


class Policy(NamedTuple):
    """A policy: its mode, and patterns of mail servers."""

    mode: str
    servers: tuple[str, ...]


class WrongPolicy(ValueError):
    """A policy that senders ignore; the message says why."""


def check_policy(site: Site) -> Iterator[tuple[str, str] | Unread]:
    """Check MTA-STS of a domain that receives mail, as senders do: the record, and then the policy."""
    servers = site.mail_servers()
    if not servers:
        return
    texts = [text for text in site.lookups.texts(f"_mta-sts.{site.domain}") if _LIKE_STS.match(text)]
    if not texts:
        yield "mta-sts-missing", f"No TXT record begins with v=STSv1 at _mta-sts.{site.domain}."
        return
    if len(texts) > 1 or not _STS.fullmatch(texts[0]):
        reason = "Senders ignore several records." if len(texts) > 1 else "It has no id, or is not readable."
        yield "mta-sts-broken", "\n".join([*texts, reason])
        return
    url = f"https://mta-sts.{site.domain}/.well-known/mta-sts.txt"
    try:
        policy = parse_policy(_page(site, url))
    except WrongPolicy as error:
        yield "mta-sts-broken", f"{url}: {error}."
    except FetchFailed as error:
        yield Unread(site.host, OF_POLICY, error.reason)
    else:
        yield from _problems(policy, url, servers)


def check_reports(site: Site) -> Iterator[tuple[str, str]]:
    """Check TLS-RPT of a domain that receives mail; senders ignore records that they cannot read."""
    if not site.mail_servers():
        return
    name = f"_smtp._tls.{site.domain}"
    texts = [text for text in site.lookups.texts(name) if _LIKE_RPT.match(text)]
    if not texts:
        yield "tls-rpt-missing", f"No TXT record begins with v=TLSRPTv1 at {name}."
    elif len(texts) > 1 or not _RPT.fullmatch(texts[0]):
        reason = (
            "Senders ignore several records." if len(texts) > 1 else "It names no address of reports (rua)."
        )
        yield "tls-rpt-missing", "\n".join([*texts, reason])


def parse_policy(text: str) -> Policy:
    """Return a policy; raise WrongPolicy."""
    fields: dict[str, list[str]] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise WrongPolicy("it has a line that is no name and value")
        fields.setdefault(match[1], []).append(match[2])
    version, mode, age = (fields.get(name, [""])[0] for name in ("version", "mode", "max_age"))
    servers = tuple(server.lower() for server in fields.get("mx", []))
    if version != "STSv1":
        raise WrongPolicy("it has no line “version: STSv1”")
    if mode not in _MODES:
        raise WrongPolicy(f"its mode must be one of {', '.join(_MODES)}")
    if not age.isascii() or not age.isdigit() or len(age) > 10 or int(age) > _MAX_AGE:
        raise WrongPolicy(f"max_age must be a number of seconds up to {_MAX_AGE}")
    if not servers and mode != "none":
        raise WrongPolicy("it names no mail servers (mx)")
    return Policy(mode, servers)


def _problems(policy: Policy, url: str, servers: Sequence[str]) -> Iterator[tuple[str, str]]:
    if policy.mode != "enforce":
        yield "mta-sts-not-enforced", f"{url}: mode: {policy.mode}"
    others = [server for server in servers if not any(_matches(server, each) for each in policy.servers)]
    if others and policy.mode != "none":
        yield (
            "mta-sts-other-servers",
            f"{url} names {', '.join(policy.servers)}, and not {', '.join(others)}.",
        )


def _matches(server: str, pattern: str) -> bool:
    """Return whether a pattern is for a server; a star is one label."""
    if pattern.startswith("*."):
        return server.partition(".")[2] == pattern.removeprefix("*.")
    return server == pattern


def _page(site: Site, url: str) -> str:
    """Return the policy; raise WrongPolicy if senders would read none, or FetchFailed if that is unknown."""
    try:
        page = site.fetch(url, verify=True)
    except FetchFailed as error:
        if error.reason not in _BROKEN:
            raise
        raise WrongPolicy(_BROKEN[error.reason]) from error
    _check_known(page)
    if len(page.hops) > 1:
        raise WrongPolicy(_BROKEN["redirect_loop"])
    if page.status != 200:
        raise WrongPolicy(f"it answers with status {page.status}")
    return page.body.decode("utf-8", "replace")


def _check_known(page: Fetched) -> None:
    """Raise FetchFailed for a response that says something about this moment only."""
    if page.status >= 500:
        raise FetchFailed("server_error")
    if is_refusal(page):
        raise FetchFailed("blocked")
