"""E-mails to people who are invited."""

from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from portal.models import Invitation


def send_invitation(invitation: Invitation, link: str, *, by: str) -> None:
    """Send ``link`` to the invited address; raises OSError if the mail server does not accept it."""
    send_mail(
        subject=_("You are invited to %(account)s") % {"account": invitation.account},
        message=render_to_string(
            "portal/team/invitation_email.txt", {"invitation": invitation, "link": link, "by": by}
        ),
        from_email=None,
        recipient_list=[invitation.email],
    )
