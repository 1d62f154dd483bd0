"""The inventory of the demo's websites, as if scans had seen it."""

from datetime import datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Any

from config.demo.findings import PERIOD
from dashboard_api.models import RegisteredDomain, ScriptInventory, SeenCertificate, SeenScript, Website
from foundation.addresses.domains import registrable_domain

_LIFETIME = timedelta(days=90)  # of a certificate
_CHAT = "https://widgets.example.org/chat.js"  # its host is new
_SHOP = "https://cdn.example.org/jquery-3.4.1.min.js"  # pinned, and changed since


def store_inventory(website: Website, now: datetime, dice: Random) -> None:
    """Store certificates, a domain, and scripts: one is new, and a pinned one has changed."""
    domain = registrable_domain(website.host) or website.host
    seen = {"first_seen_at": now - PERIOD, "seen_at": now - timedelta(hours=5)}
    SeenCertificate.objects.bulk_create(
        _certificate(website, host, now + timedelta(days=dice.randint(2, 80)), seen)
        for host in dict.fromkeys((website.host, f"www.{domain}"))
    )
    RegisteredDomain.objects.create(
        website=website,
        name=domain,
        valid_until=now + timedelta(days=dice.randint(20, 700)),
        registrar="Example Registrar",
        read_at=seen["seen_at"],
    )
    own = f"https://{website.host}/static/app.js"
    SeenScript.objects.bulk_create(
        [
            _script(website, own, seen),
            _script(
                website,
                _SHOP,
                seen,
                libraries=[{"name": "jquery", "version": "3.4.1"}],
                pinned_sha256=_sha256("the content before"),
                changed_at=now - timedelta(days=2),
            ),
            _script(website, _CHAT, seen | {"first_seen_at": now - timedelta(days=1)}),
        ]
    )
    ScriptInventory.objects.create(
        website=website,
        page=f"https://{website.host}/",
        at=seen["seen_at"],
        expected_hosts=["cdn.example.org", website.host],
    )


def _certificate(
    website: Website, host: str, valid_until: datetime, seen: dict[str, datetime]
) -> SeenCertificate:
    begins = valid_until - _LIFETIME
    authority = {"subject": "Example Trust R3", "issuer": "Example Trust Root"}
    details = {
        "subject": host,
        "names": [host],
        "key": "RSA, 2048 bits",
        "signature": "sha256",
        "valid_from": begins.isoformat(),
        "chain": [authority | {"valid_until": (valid_until + timedelta(days=900)).isoformat()}],
        "problem": "",
    }
    return SeenCertificate(
        website=website,
        host=host,
        port=443,
        fingerprint=_sha256(f"certificate of {host}"),
        issuer=authority["subject"],
        valid_until=valid_until,
        details=details,
        first_seen_at=max(begins, seen["first_seen_at"]),
        seen_at=seen["seen_at"],
    )


def _script(website: Website, url: str, seen: dict[str, datetime], **fields: Any) -> SeenScript:
    host = url.split("/")[2]
    known = {"sha256": _sha256(url), "size": 20_417, "has_integrity": False}
    return SeenScript(website=website, url=url, host=host, **(known | seen | fields))


def _sha256(text: str) -> str:
    return sha256(text.encode()).hexdigest()
