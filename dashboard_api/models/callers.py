"""Who calls, and what they may see, as SQL: one statement each.

tests/dashboard_api/models/test_callers.py proves each equal to its twin by the ORM. Decision record 0013.
"""

import json
from datetime import datetime

from dashboard_api.models.accounts import Account, Secret
from dashboard_api.models.entitlements import Entitlement
from dashboard_api.models.revisions import TAGS
from dashboard_api.models.sites import SiteLink, Website
from dashboard_api.models.statements import loaded, moment, rows, stored

_SECRETS = """
SELECT secret.id, account_id, sealed, ref
FROM dashboard_api_secret AS secret JOIN dashboard_api_account AS account ON account.id = account_id
WHERE ref = %s AND (state = 'active' OR (state = 'retiring' AND retires_at > %s))
ORDER BY secret.created_at DESC, secret.id DESC
"""


def usable_secrets(account_ref: str, now: datetime) -> list[Secret]:
    """The secrets that may have signed a call of this account, with the account; the newest first."""
    secrets = []
    for *told, ref in rows(Secret, _SECRETS, [account_ref, stored(now)]):
        secret = loaded(Secret, ("id", "account_id", "sealed"), told)
        secret.account = loaded(Account, ("id", "ref"), (secret.account_id, ref))
        secrets.append(secret)
    return secrets


_LINK = f"""
SELECT link.id, website_id, revoked_at,
{TAGS.format(website="link.website_id")},
(SELECT COUNT(*) FROM dashboard_api_sitelink AS used
WHERE used.account_id = link.account_id AND used.revoked_at IS NULL),
entitlement.id, entitlement.account_id, plan, status, starts_on, ends_on, past_due_since, sites_limit,
features
FROM dashboard_api_sitelink AS link
JOIN dashboard_api_website AS website ON website.id = website_id
LEFT JOIN dashboard_api_entitlement AS entitlement ON entitlement.account_id = link.account_id
WHERE link.account_id = %s AND link_id = %s AND host = %s
"""  # noqa: S608  # names of ours
_LINK_FIELDS = ("id", "account_id", "website_id", "link_id", "revoked_at")
_ENTITLEMENT_FIELDS = (
    *("id", "account_id", "plan", "status", "starts_on", "ends_on"),
    *("past_due_since", "sites_limit", "features"),
)


def find_link(account: Account, link_id: str, host: str) -> SiteLink | None:
    """The account's link with exactly this id and normalised host, and all that is known of both sides."""
    found = rows(SiteLink, _LINK, [account.pk, link_id, host])
    if not found:
        return None
    number, website_id, revoked_at, own_tag, common_tag, sites_used, *entitled = found[0]
    known = (number, account.pk, website_id, link_id, moment(revoked_at))
    link = loaded(SiteLink, _LINK_FIELDS, known)
    link.website = loaded(Website, ("id", "host"), (website_id, host))
    link.website.tags = (own_tag, common_tag)
    link.account = account
    account.sites_used = sites_used
    if entitled[0] is not None:
        entitled[-1] = json.loads(entitled[-1])
        loaded(Entitlement, _ENTITLEMENT_FIELDS, entitled).account = account
    return link
