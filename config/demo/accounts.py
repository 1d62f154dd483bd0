"""People, accounts, websites, runs, notes and confirmations of the demo, from ``accounts.toml``."""

from pathlib import Path
from typing import Literal

import msgspec


class _Table(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    pass


class Person(_Table):
    """User of the demo; ``what_they_see`` is printed next to the name when the demo starts."""

    username: str
    what_they_see: str
    is_staff: bool = False
    is_superuser: bool = False


class Plan(_Table):
    """A plan that customers can choose."""

    slug: str
    rank: int
    name: dict[str, str]
    price_text: dict[str, str]
    limits: dict[str, int]
    features: list[str]
    trial_days: int = 0


class Account(_Table):
    """An account of the service and the portal; ``owner`` and ``viewer`` are usernames of its members."""

    ref: str
    name: str
    owner: str
    viewer: str = ""
    plan: str = "standard"
    ends_in_days: int = 165  # the plan


class Run(_Table):
    """The last run of a source."""

    source: str
    hours_ago: int
    complete_hours_ago: int  # the last complete run, which may be an earlier one
    state: Literal["ok", "partial", "failed"] = "ok"
    urls_checked: int | None = None
    version: str = ""
    detail: str = ""


class Site(_Table):
    """Website of an account; ``runs`` is a key of ``DemoAccounts.runs``, or empty: never checked."""

    host: str
    account: str
    method: Literal["dns", "file", "meta"] = "dns"
    findings_count: int = 0
    runs: str = ""
    is_revoked: bool = False
    has_wrong_link_id: bool = False


class Note(_Table):
    """An analyst's note on a website, or on its worst open finding of a rule."""

    host: str
    body: str
    days_ago: int
    rule: str = ""
    account: str = ""  # the only one that can read it; empty: every one that links the website
    is_internal: bool = False
    is_pinned: bool = False


class Confirmation(_Table):
    """An analyst's confirmation of a website's worst open finding of a rule."""

    host: str
    rule: str
    reason: str
    days_ago: int


class DemoAccounts(_Table):
    """The contents of the file."""

    people: list[Person]
    plans: list[Plan]
    accounts: list[Account]
    runs: dict[str, list[Run]]  # by a name, to which websites refer
    sites: list[Site]
    notes: list[Note]
    confirmations: list[Confirmation]


def read_accounts() -> DemoAccounts:
    """Return the contents of ``accounts.toml``."""
    return msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=DemoAccounts)
