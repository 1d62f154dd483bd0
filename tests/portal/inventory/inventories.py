"""Inventories of a website, as the service answers them."""

from datetime import datetime, timedelta

from signed_api.inventory import (
    Certificate,
    ChainCertificate,
    InventoryResponse,
    LastDay,
    LastDaysResponse,
    Library,
    RegisteredDomain,
    Script,
)
from tests.portal.dashboards import NOW
from tests.structs import build

HOST = "shop.example.com"
SHA256 = "9f" * 32


def in_days(count: float, now: datetime = NOW) -> datetime:
    return now + timedelta(days=count)


def make_certificate(days: float = 60, **fields):
    facts = {
        "host": HOST,
        "port": 443,
        "fingerprint": "a1" * 32,
        "issuer": "Example Trust R3",
        "current": True,
    }
    facts |= {"names": [HOST, f"www.{HOST}"], "key": "RSA, 2048 bits", "signature": "sha256", "seen_at": NOW}
    facts |= {"valid_from": in_days(days - 365), "valid_until": in_days(days), "first_seen_at": in_days(-30)}
    chain = [ChainCertificate(subject="Example Trust R3", issuer="Example Root", valid_until=in_days(900))]
    return build(Certificate, **(facts | {"chain": chain} | fields))


def make_script(path: str = "/app.js", *, host: str = HOST, **fields):
    facts = {
        "url": f"https://{host}{path}",
        "host": host,
        "own": host == HOST,
        "sha256": SHA256,
        "bytes": 20_417,
    }
    facts |= {"current": True, "first_seen_at": in_days(-60), "seen_at": NOW}
    return build(Script, **(facts | fields))


def make_domain(days: float | None = 200, **fields):
    until = None if days is None else in_days(days)
    facts = {"name": "example.com", "valid_until": until, "registrar": "Example Registrar", "read_at": NOW}
    return build(RegisteredDomain, **(facts | fields))


def make_library(name: str = "jquery", version: str = "3.4.1"):
    return Library(name=name, version=version)


def make_inventory(**fields):
    facts = {"ok": True, "host": HOST, "scripts_at": NOW, "page": f"https://{HOST}/"}
    return build(InventoryResponse, **(facts | fields))


def make_last_day(days: float = 60, *, lifetime: float = 365, **fields):
    facts = {"host": HOST, "kind": "certificate", "name": HOST, "port": 443, "issuer": "Example Trust R3"}
    facts |= {"valid_until": in_days(days), "fingerprint": "a1" * 32, "seen_at": NOW}
    facts |= {"valid_from": in_days(days - lifetime)}
    return build(LastDay, **(facts | fields))


def make_last_days(*items, total: int | None = None):
    return LastDaysResponse(ok=True, items=list(items), total=len(items) if total is None else total)
