"""Reads the secrets of an account and the called link in one statement.

Tests compare the statement with equivalent queries of the ORM.
"""

import functools
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from types import ModuleType
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from dashboard_api.backends.statements import backend_for, first_rows, to_column, to_datetime
from dashboard_api.models.accounts import Secret
from dashboard_api.models.entitlements import Terms
from dashboard_api.models.revisions import TAGS, Tags


class SigningSecret(NamedTuple):
    """A usable secret, like ``Secret``."""

    pk: int
    account_id: int
    sealed: str
    is_test: bool
    for_portal: bool
    calls_per_second: int | None  # of the account
    calls_burst: int | None  # of the account
    calls_per_day: int | None  # of its entitlement
    sites_limit: int | None  # of its entitlement


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
    limit_states: list[dict[str, Any]]


class ScheduleRow(NamedTuple):
    """A schedule with a next scan, like ``ScanSchedule``."""

    profile: str
    frequency: str
    next_at: datetime
    changed_at: datetime
    paused_until: date | None


class AnswerTerms(NamedTuple):
    """The version of the account's answers to a website, and the account's rules about them."""

    version: int = 0
    time_zone: str = "UTC"
    critical_days: int = 0
    high_days: int = 0
    medium_days: int = 0
    low_days: int = 0

    def days(self) -> tuple[int, int, int, int]:
        """Return the days in which findings must be fixed, from Critical to Low; 0 without a rule."""
        return self[2:]

    def today(self, now: datetime) -> date:
        """Return the day of ``now`` in the account's time zone."""
        return now.astimezone(ZoneInfo(self.time_zone)).date()

    def begin_of(self, day: date) -> datetime:
        """Return the beginning of ``day`` in the account's time zone, in UTC."""
        return datetime.combine(day, time(), ZoneInfo(self.time_zone)).astimezone(UTC)


class AccountSite(NamedTuple):
    """A link with its website and the entitlement of its account."""

    pk: int
    account_id: int
    website_id: int
    host: str
    linked_at: datetime
    revoked_at: datetime | None
    paused_at: datetime | None
    tags: Tags
    schedules: frozenset[ScheduleRow]  # of the website, by all its accounts
    sites_used: int
    entitlement: EntitlementTerms | None
    answers: AnswerTerms = AnswerTerms()


class Credentials(NamedTuple):
    """The usable secrets of an account, and the link that a call names.

    If the account is unknown or has no usable secret, ``is_known`` is false and both belong to another
    account. They make the call take as long as a known one, and must never verify a signature.
    """

    is_known: bool
    signers: list[SigningSecret]
    link: AccountSite | None


_USABLE = "(state = 'active' OR (state = 'retiring' AND retires_at > %(now)s))"
# The statement does the same work for known and unknown accounts, so that its time does not show which
# accounts exist: it always finds the newest secret, and always searches for usable secrets.
_CREDENTIALS = f"""
SELECT ref = %(ref)s, secret.id, account.id, sealed, is_test, for_portal,
calls_per_second, calls_burst, calls_per_day, sites_limit,
link.id, account.id, website.id, host, link.created_at, link.revoked_at, link.paused_at,
{TAGS.format(website="website.id")},
(SELECT {{schedules_as_json}} FROM dashboard_api_sitelink AS scanned
JOIN dashboard_api_scanschedule AS schedule ON schedule.link_id = scanned.id
WHERE scanned.website_id = website.id AND scanned.revoked_at IS NULL AND scanned.paused_at IS NULL
AND next_at IS NOT NULL),
(SELECT COUNT(*) FROM dashboard_api_sitelink AS used
WHERE used.account_id = account.id AND used.revoked_at IS NULL),
answers_version, time_zone, critical_days, high_days, medium_days, low_days,
plan, status, starts_on, ends_on, renews, past_due_since, sites_limit, features, limit_states
FROM (
    SELECT account_id FROM dashboard_api_secret WHERE {_USABLE} ORDER BY id DESC LIMIT 1
) AS newest
JOIN dashboard_api_account AS account ON account.id = COALESCE((
    SELECT account_id FROM dashboard_api_secret WHERE account_id = COALESCE(
        (SELECT id FROM dashboard_api_account WHERE ref = %(ref)s), newest.account_id
    ) AND {_USABLE} LIMIT 1
), newest.account_id)
JOIN dashboard_api_secret AS secret ON secret.account_id = account.id
LEFT JOIN dashboard_api_sitelink AS link ON link.account_id = account.id AND link_id = %(link_id)s
LEFT JOIN dashboard_api_website AS website ON website.id = website_id
LEFT JOIN dashboard_api_entitlement AS entitlement ON entitlement.account_id = account.id
WHERE {_USABLE}
ORDER BY secret.created_at DESC, secret.id DESC
"""  # noqa: S608  # constant text


def read_credentials(account_ref: str, link_id: str, now: datetime) -> Credentials:
    """Return the usable secrets of the account, newest first, and its link with ``link_id``.

    For an unknown account, return the account with the newest secret instead (see ``Credentials``).
    """
    statement = _statement(backend_for(Secret))
    found = first_rows(Secret, statement, {"link_id": link_id, "ref": account_ref, "now": to_column(now)})
    if not found:
        return Credentials(is_known=False, signers=[], link=None)
    is_known, *_ = found[0]
    # The columns of _CREDENTIALS: is_known, the fields of SigningSecret, then the link.
    signers = [SigningSecret._make(row[1:10]) for row in found]
    return Credentials(is_known=bool(is_known), signers=signers, link=_account_site(*found[0][10:]))


@functools.cache
def _statement(backend: ModuleType) -> str:
    utc = backend.UTC_SUFFIX
    columns = f"profile, frequency, next_at{utc}, schedule.changed_at{utc}, schedule.paused_until"
    return _CREDENTIALS.format(schedules_as_json=backend.AS_JSON.format(columns))


def _account_site(pk: int | None, *columns: Any) -> AccountSite | None:
    """Return the link from its id and the columns after it, if the call names a link of the account."""
    if pk is None:
        return None
    account_id, website_id, host, linked_at, revoked_at, paused_at, *others = columns
    own_tag, every_tag, schedules, sites_used, *others = others
    answers, (plan, *terms, features, limit_states) = AnswerTerms._make(others[:6]), others[6:]
    entitlement = None
    if plan is not None:
        lists = map(msgspec.json.decode, (features, limit_states))
        entitlement = EntitlementTerms(plan, *terms, *lists)
    return AccountSite(
        pk=pk,
        account_id=account_id,
        website_id=website_id,
        host=host,
        linked_at=to_datetime(linked_at),
        revoked_at=to_datetime(revoked_at),
        paused_at=to_datetime(paused_at),
        tags=(own_tag, every_tag),
        schedules=_decode_schedules(schedules),
        sites_used=sites_used,
        entitlement=entitlement,
        answers=answers,
    )


_decode_schedules = msgspec.json.Decoder(frozenset[ScheduleRow]).decode
