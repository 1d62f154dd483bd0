"""The inventory of a website, as scans saw it: responses, pins of scripts and expected hosts."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db.models import CharField, F, IntegerField, Q, QuerySet, TextField, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from audit.recording import record as audit
from dashboard_api.crawler.reasons import domain_explanation
from dashboard_api.models import (
    RegisteredDomain,
    ScriptInventory,
    SeenCertificate,
    SeenScript,
    SiteLink,
    Website,
)
from dashboard_api.queries.credentials import AccountSite
from foundation.addresses.domains import registrable_domain
from signed_api import inventory as contract
from signed_api import limits
from signed_api.inventory import ACCEPT_HOST, CERTIFICATE, DOMAIN, PIN, LastDaysRequest, ScriptRequest

MAX_PINS = 100  # of a website
MAX_EXPECTED_HOSTS = 500  # of a website


class UnknownScript(Exception):
    """No scan saw a script with this address on the home page."""


class WrongScriptState(Exception):
    """The script is not in a state for this act; the text says why."""


def build_inventory(link: AccountSite) -> contract.InventoryResponse:
    """Return what scans of the website saw."""
    certificates = SeenCertificate.objects.filter(website=link.website_id)
    domain = RegisteredDomain.objects.filter(website=link.website_id).first()
    inventory = ScriptInventory.objects.filter(website=link.website_id).first()
    scripts = SeenScript.objects.filter(website=link.website_id)[: limits.MAX_SCRIPTS]
    return contract.InventoryResponse(
        ok=True,
        host=link.host,
        certificates=[_certificate(row) for row in certificates[: limits.MAX_CERTIFICATES]],
        domain=_domain(domain) if domain else None,
        scripts=[_script(row, link.host, inventory) for row in scripts],
        scripts_at=inventory.at if inventory else None,
        page=inventory.page if inventory else "",
    )


def change_script(link: AccountSite, request: ScriptRequest) -> contract.ScriptResponse:
    """Pin a script or accept its host, in the caller's transaction; repeating it changes nothing.

    Raises UnknownScript and WrongScriptState.
    """
    Website.wait_for_imports([link.website_id])
    script = SeenScript.objects.filter(website=link.website_id, url=request.url).first()
    if script is None:
        raise UnknownScript
    inventory = ScriptInventory.objects.filter(website=link.website_id).first()
    changed = _accept_host(script, inventory) if request.act == ACCEPT_HOST else _pin(script, request)
    if changed:
        audit(
            f"script.{request.act}",
            SiteLink.objects.get(pk=link.pk),
            by=request.by or request.portal_account_ref,
            after={"url": script.url, **changed},
        )
    return contract.ScriptResponse(ok=True, host=link.host, script=_script(script, link.host, inventory))


def build_last_days(account_id: int, request: LastDaysRequest, now: datetime) -> contract.LastDaysResponse:
    """Return one page of the last days of the account's websites, soonest first."""
    links = SiteLink.objects.not_revoked().filter(account=account_id, paused_at=None)
    own = Q(website__in=links.values("website"), valid_until__lte=now + timedelta(days=request.within_days))
    certificates = SeenCertificate.objects.filter(own, is_current=True).annotate(
        kind=Value(CERTIFICATE, CharField()),
        name=F("host"),
        begins=KeyTextTransform("valid_from", "details"),
        number=Cast("port", IntegerField()),
        by=F("issuer"),
        sha256=F("fingerprint"),
        at=F("seen_at"),
    )
    domains = RegisteredDomain.objects.filter(own).annotate(
        kind=Value(DOMAIN, CharField()),
        begins=Value(None, TextField()),
        number=Value(None, IntegerField()),
        by=F("registrar"),
        sha256=Value("", CharField()),
        at=F("read_at"),
    )
    columns = ("valid_until", "website__host", "kind", "name", "number", "by", "sha256", "at", "begins")
    rows: QuerySet[Any, Any] = (
        certificates.order_by().values_list(*columns).union(domains.values_list(*columns), all=True)
    )
    end = request.page * request.page_size
    page = rows.order_by(*columns[:5])[end - request.page_size : end]
    return contract.LastDaysResponse(
        ok=True,
        items=[
            contract.LastDay(
                valid_from=datetime.fromisoformat(begins) if begins else None,
                valid_until=valid_until,
                host=host,
                kind=kind,
                name=name,
                port=port,
                issuer=issuer,
                fingerprint=fingerprint,
                seen_at=seen_at,
            )
            for valid_until, host, kind, name, port, issuer, fingerprint, seen_at, begins in page
        ],
        total=rows.count(),
    )


def _accept_host(script: SeenScript, inventory: ScriptInventory | None) -> dict[str, str]:
    if inventory is None or script.host in inventory.expected_hosts:
        return {}
    if len(inventory.expected_hosts) >= MAX_EXPECTED_HOSTS:
        raise WrongScriptState(f"At most {MAX_EXPECTED_HOSTS} hosts of scripts can be expected.")
    inventory.expected_hosts = sorted([*inventory.expected_hosts, script.host])
    inventory.save(update_fields=["expected_hosts"])
    return {"host": script.host}


def _pin(script: SeenScript, request: ScriptRequest) -> dict[str, str]:
    pinned = ""
    if request.act == PIN:
        if not script.sha256:
            raise WrongScriptState("No scan has read the content of this script.")
        if request.sha256 and request.sha256 != script.sha256:
            raise WrongScriptState("A scan has read other content of this script since.")
        others = SeenScript.objects.filter(website=script.website_id).exclude(pinned_sha256="")
        if others.exclude(pk=script.pk).count() >= MAX_PINS:
            raise WrongScriptState(f"At most {MAX_PINS} scripts can be pinned.")
        pinned = script.sha256
    if script.pinned_sha256 == pinned:
        return {}
    script.pinned_sha256 = pinned
    script.save(update_fields=["pinned_sha256"])
    return {"sha256": pinned}


def _certificate(row: SeenCertificate) -> contract.Certificate:
    facts = {
        "host": row.host,
        "port": row.port,
        "fingerprint": row.fingerprint,
        "issuer": row.issuer,
        "valid_until": row.valid_until,
        "current": row.is_current,
        "first_seen_at": row.first_seen_at,
        "seen_at": row.seen_at,
    }
    return msgspec.convert(row.details | facts, contract.Certificate)


def _domain(row: RegisteredDomain) -> contract.RegisteredDomain:
    return contract.RegisteredDomain(
        name=row.name,
        valid_until=row.valid_until,
        registrar=row.registrar,
        reason=row.reason,
        explanation=domain_explanation(row.reason),
        read_at=row.read_at,
    )


def _script(row: SeenScript, website: str, inventory: ScriptInventory | None) -> contract.Script:
    domain = registrable_domain(website)
    is_own = row.host == website or (domain is not None and registrable_domain(row.host) == domain)
    return contract.Script(
        url=row.url,
        host=row.host,
        own=is_own,
        sha256=row.sha256 or None,
        bytes=row.size,
        integrity=row.has_integrity,
        libraries=msgspec.convert(row.libraries, list[contract.Library]),
        pinned=bool(row.pinned_sha256),
        pinned_sha256=row.pinned_sha256 or None,
        new=inventory is not None and not is_own and row.host not in inventory.expected_hosts,
        current=inventory is None or row.seen_at >= inventory.at,
        first_seen_at=row.first_seen_at,
        seen_at=row.seen_at,
        changed_at=row.changed_at,
    )
