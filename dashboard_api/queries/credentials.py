"""Credentials of an account and its link, read by one statement.

Tests compare it with equivalent queries of the ORM. Decision record 0013.
"""

import json
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from dashboard_api.backends.statements import first_rows, moment, stored
from dashboard_api.models.accounts import Secret
from dashboard_api.models.entitlements import Terms
from dashboard_api.models.revisions import TAGS, Tags


class SigningSecret(NamedTuple):
    """A usable secret, like ``Secret``."""

    pk: int
    account_id: int
    sealed: str


@dataclass(slots=True)
class EntitlementTerms(Terms):
    """The entitlement of an account, like ``Entitlement``."""

    plan: str
    status: str
    starts_on: date
    ends_on: date
    renews: bool
    past_due_since: date | None
    sites_limit: int
    features: list[str]


class AccountSite(NamedTuple):
    """A link with its website and the entitlement of its account."""

    pk: int
    account_id: int
    website_id: int
    host: str
    linked_at: datetime
    revoked_at: datetime | None
    tags: Tags
    sites_used: int
    entitlement: EntitlementTerms | None


class Credentials(NamedTuple):
    """The usable secrets of an account, and the link that a call names."""

    signers: list[SigningSecret]
    link: AccountSite | None


_CREDENTIALS = f"""
SELECT secret.id, account.id, sealed,
link.id, account.id, website.id, host, link.created_at, link.revoked_at,
{TAGS.format(website="website.id")},
(SELECT COUNT(*) FROM dashboard_api_sitelink AS used
WHERE used.account_id = account.id AND used.revoked_at IS NULL),
plan, status, starts_on, ends_on, renews, past_due_since, sites_limit, features
FROM dashboard_api_account AS account
JOIN dashboard_api_secret AS secret ON secret.account_id = account.id
LEFT JOIN dashboard_api_sitelink AS link ON link.account_id = account.id AND link_id = %(link_id)s
LEFT JOIN dashboard_api_website AS website ON website.id = website_id
LEFT JOIN dashboard_api_entitlement AS entitlement ON entitlement.account_id = account.id
WHERE ref = %(ref)s AND (state = 'active' OR (state = 'retiring' AND retires_at > %(now)s))
ORDER BY secret.created_at DESC, secret.id DESC
"""  # noqa: S608  # constant text


def read_credentials(account_ref: str, link_id: str, now: datetime) -> Credentials:
    """Return the usable secrets of the account, newest first, and its link with ``link_id``."""
    found = first_rows(Secret, _CREDENTIALS, {"link_id": link_id, "ref": account_ref, "now": stored(now)})
    return Credentials(
        [SigningSecret._make(row[:3]) for row in found], _account_site(*found[0][3:]) if found else None
    )


def _account_site(pk: int | None, *columns: Any) -> AccountSite | None:
    if pk is None:
        return None
    account_id, website_id, host, linked_at, revoked_at, own_tag, every_tag, sites_used, plan, *terms = (
        columns
    )
    tags = (own_tag, every_tag)
    entitlement = None if plan is None else _entitlement(plan, *terms)
    return AccountSite(
        pk, account_id, website_id, host, moment(linked_at), moment(revoked_at), tags, sites_used, entitlement
    )


def _entitlement(*columns: Any) -> EntitlementTerms:
    *values, features = columns
    return EntitlementTerms(*values, json.loads(features))  # type: ignore[call-arg]  # in the order of the fields
