"""People, accounts, websites, runs, notes, answers and messages of the demo, from ``accounts.toml``."""

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
    """An account of the service and the portal; the others are usernames of its members."""

    ref: str
    name: str
    owner: str
    viewer: str = ""
    contributor: str = ""
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


class FixDays(_Table):
    """The days in which an account fixes findings of each severity."""

    account: str
    critical: int
    high: int
    medium: int
    low: int


class DemoAnswer(_Table):
    """An answer to a website's worst open findings of a rule, and the analyst's decision about a dispute.

    ``due_in`` and ``until_in`` are days after the answer; ``by`` and ``assignee`` are usernames.
    """

    account: str
    host: str
    rule: str
    act: Literal["will_fix", "accepted", "disputed", "fixed"]
    days_ago: int
    by: str
    findings: int = 1
    reason: str = ""
    evidence: str = ""
    due_in: int | None = None
    until_in: int | None = None
    assignee: str = ""
    decision: Literal["", "agree", "disagree"] = ""
    decided: str = ""


class DemoMessage(_Table):
    """A message of a member about a website's worst open finding of a rule, and the analyst's reply."""

    account: str
    host: str
    rule: str
    by: str
    days_ago: int
    text: str
    reply: str = ""


class DemoAccounts(_Table):
    """The contents of the file."""

    people: list[Person]
    plans: list[Plan]
    accounts: list[Account]
    runs: dict[str, list[Run]]  # by a name, to which websites refer
    sites: list[Site]
    notes: list[Note]
    confirmations: list[Confirmation]
    fix_days: list[FixDays]
    answers: list[DemoAnswer]
    messages: list[DemoMessage]


def read_accounts() -> DemoAccounts:
    """Return the contents of ``accounts.toml``."""
    return msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=DemoAccounts)
