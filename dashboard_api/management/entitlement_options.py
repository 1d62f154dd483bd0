"""Command options that create or change an entitlement."""

import re
from argparse import ArgumentTypeError, BooleanOptionalAction
from datetime import date
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.models import Entitlement

_FIELDS = ("plan", "status", "starts_on", "ends_on", "renews", "cancels", "sites_limit", "features")


def add_entitlement_options(parser: CommandParser) -> None:
    """Add an option for each field of an entitlement."""
    parser.add_argument(
        "--plan", help="the plan, such as standard: its newest revision, if the admin lists one"
    )
    parser.add_argument("--status", choices=Entitlement.Status.values)
    parser.add_argument("--starts-on", type=day, metavar="DAY", help="first day, such as 2026-01-31")
    parser.add_argument("--ends-on", type=day, metavar="DAY", help="last day, included")
    parser.add_argument(
        "--renews",
        action=BooleanOptionalAction,
        help="whether the plan renews after its last day; a renewing plan stays usable for three more days",
    )
    parser.add_argument(
        "--cancels",
        action=BooleanOptionalAction,
        help="whether the customer has cancelled, so that the plan ends on its last day",
    )
    parser.add_argument("--sites-limit", type=int, metavar="N", help="how many websites can be linked")
    parser.add_argument("--features", type=names, metavar="A,B", help="replaces the list; '' empties it")


def given_fields(options: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that were given as options."""
    return {name: options[name] for name in _FIELDS if options[name] is not None}


def entitlement_in_words(entitlement: Entitlement) -> str:
    """Return an entitlement as a sentence."""
    features = f" Features: {', '.join(entitlement.features)}." if entitlement.features else ""
    today = timezone.now().date()
    status = Entitlement.Status(entitlement.status_on(today)).label
    agreed = entitlement.agreed_terms
    other = (
        f" Staff set: {agreed.plan} until {agreed.ends_on}."
        if agreed and not entitlement.is_as_agreed
        else ""
    )
    then = ", cancelled" if entitlement.cancels else ", then renews" if entitlement.renews else ""
    refused = "" if entitlement.is_usable_on(today) else " Calls are refused today."
    return (
        f"Plan {entitlement.plan}, {status.lower()}, "
        f"{entitlement.starts_on} to {entitlement.ends_on}{then}, "
        f"at most {entitlement.sites_limit} websites.{features}{other}{refused}"
    )


def result_fields(entitlement: Entitlement) -> dict[str, Any]:
    """Return an entitlement as fields for scripts, with today's status."""
    return entitlement_fields(entitlement) | {"status": entitlement.status_on(timezone.now().date())}


def entitlement_fields(entitlement: Entitlement) -> dict[str, Any]:
    """Return an entitlement as fields, with the stored status."""
    fields = {name: getattr(entitlement, name) for name in _FIELDS}
    return fields | {"usable": entitlement.is_usable_on(timezone.now().date())}


def day(text: str) -> date:
    """Parse the argument as a day; raises ArgumentTypeError."""
    if not re.fullmatch(r"2[0-9]{3}-[0-9]{2}-[0-9]{2}", text):
        raise ArgumentTypeError(f"{text} is not a day such as 2026-01-31")
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text} is not a day: {error}") from error


def names(text: str) -> list[str]:
    """Split the argument at its commas."""
    return [name.strip() for name in text.split(",") if name.strip()]
