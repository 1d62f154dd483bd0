"""View models of the pages of certificates, domains and scripts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from foundation.addresses.hosts import readable_host
from portal.inventory import labels
from portal.models import Account, Website
from portal.pages.urls import Address, site_address
from portal.pages.view_models.filters import Pager, page_links
from portal.texts import expiry
from portal.texts import labels as words
from signed_api.inventory import (
    DOMAIN,
    Certificate,
    ChainCertificate,
    InventoryResponse,
    LastDay,
    LastDaysResponse,
    RegisteredDomain,
    Script,
)

HTTPS = 443
_SHOWN_NAMES = 20  # of a certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateRow:
    """A certificate, with all hosts that show it."""

    key: str
    hosts: tuple[str, ...]
    until: datetime
    left: str
    tone: str
    problem: str
    issuer: str
    encryption: str
    names: str
    since: datetime
    chain: tuple[ChainCertificate, ...]
    fingerprint: str
    seen_at: datetime
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainView:
    """The domain; ``text`` says why its last day is not known, or why it may be out of date."""

    name: str
    until: datetime | None
    left: str
    tone: str
    registrar: str
    text: str
    read_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptRow:
    """A script of the home page; ``sha256`` is its content when it was last read, else empty."""

    url: str
    path: str
    facts: tuple[str, ...]
    libraries: str
    first_seen_at: datetime
    seen_at: datetime
    changed_at: datetime | None
    is_current: bool
    is_pinned: bool
    is_other_than_pinned: bool
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptHost:
    """A host and its scripts; ``is_new`` if its owner has not accepted it."""

    key: str
    name: str
    is_own: bool
    is_new: bool
    rows: tuple[ScriptRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryPage:
    """The certificates, the domain and the scripts of a website; ``count`` counts scripts and hosts."""

    host: str
    url: str
    site_url: str
    scans_url: str
    script_url: str
    may_change: bool
    is_empty: bool
    certificates: tuple[CertificateRow, ...]
    former: tuple[CertificateRow, ...]
    domain: DomainView | None
    hosts: tuple[ScriptHost, ...]
    count: str
    scripts_at: datetime | None
    page_address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryRow:
    """A certificate or a domain with its last day; ``url`` leads to the certificates of the website."""

    name: str
    kind: str
    issuer: str
    website: str
    url: str
    until: datetime
    left: str
    tone: str
    seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryPage:
    """Certificates and domains of an account, the soonest first."""

    url: str
    rows: tuple[ExpiryRow, ...]
    count: str
    is_filtered: bool
    all_url: str
    pager: Pager


def inventory_page(
    found: InventoryResponse, address: Address, *, may_change: bool, now: datetime
) -> InventoryPage:
    """Return the page of ``found``; ``may_change`` adds the buttons for owners and managers."""
    rows = sorted(_certificate_rows(found.certificates, now), key=lambda row: (not row.problem, row.until))
    current = [script for script in found.scripts if script.current]
    hosts = len({script.host for script in current})
    scripts = ngettext("%(count)s script", "%(count)s scripts", len(current))
    from_hosts = ngettext("from %(count)s host", "from %(count)s hosts", hosts)
    counts = (scripts % {"count": number_format(len(current))}, from_hosts % {"count": number_format(hosts)})
    return InventoryPage(
        host=found.host,
        url=address.of_inventory(),
        site_url=str(address),
        scans_url=address.of_scans(),
        script_url=str(Address(path=f"{address.path}inventory/script/", account=address.account)),
        may_change=may_change,
        is_empty=not (found.certificates or found.domain or found.scripts or found.scripts_at),
        certificates=tuple(row for row in rows if row.is_current),
        former=tuple(row for row in rows if not row.is_current),
        domain=_domain(found.domain, now) if found.domain else None,
        hosts=tuple(_script_hosts(found.scripts)),
        count=" ".join(counts),
        scripts_at=found.scripts_at,
        page_address=found.page[:200],
    )


def _certificate_rows(certificates: Iterable[Certificate], now: datetime) -> Iterable[CertificateRow]:
    """Yield a row for each certificate: several hosts often show the same."""
    alike: dict[tuple[str, bool], list[Certificate]] = {}
    for each in certificates:
        alike.setdefault((each.fingerprint, each.current), []).append(each)
    for number, same in enumerate(alike.values(), 1):
        first = same[0]
        names = [readable_host(name) for name in first.names]
        more = len(names) - _SHOWN_NAMES
        # Automatic renewals come before the last quarter of a short lifetime.
        soon = min(expiry.SOON, (first.valid_until - first.valid_from) / 4)
        yield CertificateRow(
            key=f"certificate-{number}",
            hosts=tuple(_with_port(each.host, each.port) for each in same),
            until=first.valid_until,
            left=expiry.in_words(first.valid_until, now),
            tone=expiry.tone(first.valid_until, now, soon=soon),
            problem=str(labels.PROBLEMS.get(first.problem, labels.OTHER_PROBLEM)) if first.problem else "",
            issuer=first.issuer,
            encryption=first.key,
            names=", ".join(names[:_SHOWN_NAMES]) + (f" (+{number_format(more)})" if more > 0 else ""),
            since=first.valid_from,
            chain=tuple(first.chain),
            fingerprint=first.fingerprint,
            seen_at=max(each.seen_at for each in same),
            is_current=first.current,
        )


def _with_port(host: str, port: int | None) -> str:
    name = readable_host(host)
    return name if port in (None, HTTPS) else f"{name}:{port}"


def _domain(domain: RegisteredDomain, now: datetime) -> DomainView:
    until = domain.valid_until
    return DomainView(
        name=domain.name,
        until=until,
        left=expiry.in_words(until, now) if until else "",
        tone=expiry.tone(until, now, soon=expiry.SOON_FOR_DOMAINS) if until else "",
        registrar=domain.registrar,
        text=labels.unread_domain(domain.reason) if domain.reason or until is None else "",
        read_at=domain.read_at,
    )


def _script_hosts(scripts: Sequence[Script]) -> Iterable[ScriptHost]:
    """Yield the hosts with their scripts: unexpected hosts first, own ones last."""
    by_host: dict[str, list[Script]] = {}
    for script in scripts:
        by_host.setdefault(script.host, []).append(script)
    ordered = sorted(by_host.items(), key=lambda item: (_rank(item[1]), item[0]))
    for number, (host, found) in enumerate(ordered, 1):
        yield ScriptHost(
            key=f"host-{number}",
            name=readable_host(host),
            is_own=found[0].own,
            is_new=any(script.new for script in found),
            rows=tuple(_script_row(script) for script in sorted(found, key=lambda one: not one.current)),
        )


def _rank(scripts: Sequence[Script]) -> int:
    if any(script.new for script in scripts):
        return 0
    return 2 if scripts[0].own else 1


def _script_row(script: Script) -> ScriptRow:
    facts = [_("has integrity") if script.integrity else _("no integrity")]
    if script.bytes is not None:
        kilobytes = max(1, round(script.bytes / 1024))
        facts.append(_("%(count)s KB") % {"count": number_format(kilobytes)})
    if script.sha256 is None:
        facts.append(_("content not read"))
    libraries = [f"{each.name} {each.version}".strip() for each in script.libraries]
    _scheme, _separator, rest = script.url.partition("//")
    return ScriptRow(
        url=script.url,
        path="/" + rest.partition("/")[2] if rest else script.url,
        facts=tuple(facts),
        libraries=", ".join(libraries),
        first_seen_at=script.first_seen_at,
        seen_at=script.seen_at,
        changed_at=script.changed_at,
        is_current=script.current,
        is_pinned=script.pinned,
        is_other_than_pinned=script.pinned and script.sha256 != script.pinned_sha256,
        sha256=script.sha256 or "",
    )


def expiry_page(
    found: LastDaysResponse,
    websites: Iterable[Website],
    account: Account,
    *,
    query: Mapping[str, str],
    number: int,
    last: int,
    now: datetime,
) -> ExpiryPage:
    """Return page ``number`` of ``last``; ``websites`` are the person's, in all accounts."""
    visible = list(websites)
    hosts = [website.host for website in visible]
    urls = {
        website.host: site_address(website, names_account=hosts.count(website.host) > 1).of_inventory()
        for website in visible
        if website.account_id == account.pk
    }
    own_url = reverse("portal:expiry_dates")
    fields = {name: query[name] for name in ("account", "within") if query.get(name)}

    def url(page: int) -> str:
        values = fields | ({"page": str(page)} if page > 1 else {})
        return f"{own_url}?{urlencode(values)}" if values else own_url

    count = ngettext("%(count)s entry", "%(count)s entries", found.total)
    return ExpiryPage(
        url=url(number),
        rows=tuple(_expiry_row(item, urls.get(item.host, ""), now) for item in found.items),
        count=count % {"count": number_format(found.total)},
        is_filtered="within" in fields,
        all_url=f"{own_url}?{urlencode({'account': account.ref})}" if "account" in fields else own_url,
        pager=Pager(
            links=tuple(page_links(number, last, url)) if last > 1 else (),
            sizes=(),
            previous_url=url(min(number - 1, last)) if number > 1 and last else "",
            next_url=url(number + 1) if number < last else "",
            remark="",
        ),
    )


def _expiry_row(item: LastDay, url: str, now: datetime) -> ExpiryRow:
    soon = expiry.SOON_FOR_DOMAINS if item.kind == DOMAIN else expiry.SOON
    return ExpiryRow(
        name=_with_port(item.name, item.port),
        kind=words.label(labels.KINDS, item.kind),
        issuer=item.issuer,
        website=item.host,
        url=url,
        until=item.valid_until,
        left=expiry.in_words(item.valid_until, now),
        tone=expiry.tone(item.valid_until, now, soon=soon),
        seen_at=item.seen_at,
    )
