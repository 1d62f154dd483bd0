"""Set up a new customer in one step."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.views.decorators.debug import sensitive_variables

from foundation.operations.operator_command import AuditOptions, OperatorCommand, Result, host_of

DEFAULT_ORIGIN = "http://localhost:8000"


class Command(OperatorCommand):
    """manage.py onboard acct_0001 shop.example.com --owner ada@example.com."""

    help = (
        "Set up a customer: account, plan, secret, website, link, portal access and the owner's invitation, "
        "all or nothing. The ownership of the website must have been checked; what was found for a former "
        "owner stays with that owner. Without a mail server, the invitation's link is printed. A second run, "
        "also with another website, creates only what is missing."
    )
    audit_options = AuditOptions(by_help="who checked it, and invites; recorded", default_by="")

    def add_arguments(self, parser: CommandParser) -> None:
        if not settings.ENABLE_API:
            raise CommandError("Run this command where the service is: ENABLE_API is off here.")
        from dashboard_api.management.entitlement_options import add_entitlement_options
        from dashboard_api.models import Website

        parser.add_argument(
            "ref", metavar="REF", help="the account's reference (portal_account_ref), such as acct_0001"
        )
        parser.add_argument(
            "host",
            metavar="HOST",
            nargs="?",
            help="its website, such as shop.example.com; without it, the customer adds it",
        )
        parser.add_argument("--owner", default="", metavar="EMAIL", help="who is invited as the owner")
        parser.add_argument("--name", default="", help="the name of the customer")
        parser.add_argument(
            "--method",
            choices=Website.Method.values,
            default=Website.Method.MANUAL,
            help="how the ownership of the website was checked",
        )
        parser.add_argument(
            "--shared", action="store_true", help="link the website although other accounts have it, too"
        )
        add_entitlement_options(parser)

    @sensitive_variables("result", "json_output", "shown", "lines")
    def perform(
        self,
        *,
        ref: str,
        host: str | None,
        owner: str,
        name: str,
        method: str,
        shared: bool,
        by: str,
        **options: Any,
    ) -> Result:
        from config.onboarding.customer import OUR_TEAM, onboard
        from config.onboarding.values import Customer
        from dashboard_api.management.entitlement_options import (
            entitlement_fields,
            entitlement_in_words,
            given_fields,
        )

        customer = Customer(
            ref=ref,
            host=host_of(host) if host else "",
            owner=owner,
            name=name,
            plan=given_fields(options),
            method=method,
            shared=shared,
        )
        result = onboard(customer, by=by or OUR_TEAM, origin=settings.PORTAL_BASE_URL or DEFAULT_ORIGIN)
        what = f"{ref} with {customer.host}" if host else ref
        lines = [
            f"{what} is set up: {', '.join(result.created)}."
            if result.changed
            else f"{what} is set up already: nothing was changed.",
            entitlement_in_words(result.entitlement),
        ]
        link_id = result.link.link_id if result.link else None
        shown = (
            ("Link id", link_id),
            ("Secret, shown once", result.secret),
            ("Test secret, shown once, for the example website of /v1/docs", result.test_secret),
            (f"Pass this link on to {owner}", result.invitation_link),
        )
        lines += [f"{label}: {value}" for label, value in shown if value]
        json_output = {
            "changed": result.changed,
            "created": result.created,
            "account": ref,
            "host": customer.host or None,
            "link_id": link_id,
            "entitlement": entitlement_fields(result.entitlement),
            "secret": result.secret or None,
            "test_secret": result.test_secret or None,
            "invitation_link": result.invitation_link or None,
        }
        return Result(text="\n".join(lines), json_output=json_output)
