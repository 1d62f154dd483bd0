"""Invite a new customer, who then creates the account and proves the website without an operator."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.views.decorators.debug import sensitive_variables

from audit.recording import Person, record
from config.management.commands.onboard import DEFAULT_ORIGIN
from foundation.addresses.mail_addresses import mail_address
from foundation.operations.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py invite_customer ada@example.com."""

    help = (
        "Invite a new customer by e-mail to make an account; without a mail server, print the link, which "
        "works for 14 days and once. Needs SIGN_UP, and the service and the portal in one deployment."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", metavar="EMAIL", help="the address of the customer")

    @sensitive_variables("link")
    def perform(self, *, email: str, by: str, **options: Any) -> Result:
        """Send or print the link."""
        if settings.SIGN_UP == "off":
            raise CommandError("SIGN_UP is off: set it to invite or open, in the environment or .env.")
        from config.onboarding import sign_up

        email = mail_address(email)
        if sign_up.has_user(email):
            raise CommandError(f"{email} can sign in already.")
        origin = settings.PORTAL_BASE_URL or DEFAULT_ORIGIN
        link = origin + sign_up.new_link(email, lifetime=sign_up.INVITATION_LIFETIME)
        record("customer.invited", Person(None, email), by=by)
        if settings.EMAIL_URL:
            try:
                sign_up.send_invitation(email, link)
            except OSError as error:
                raise ValidationError("The e-mail could not be sent. Try again later.") from error
            return Result(text=f"{email} is invited.", json_output={"email": email, "link": None})
        return Result(
            text=f"Pass this link on to {email}: {link}", json_output={"email": email, "link": link}
        )
