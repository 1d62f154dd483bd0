"""E-mails to people who are invited."""

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from portal import link_emails
from portal.models import Invitation


def send_invitation(invitation: Invitation, link: str, *, by: str) -> None:
    """Send ``link`` to the invited address; raises OSError if the mail server does not accept it."""
    context = {"invitation": invitation, "link": link, "by": by}
    link_emails.send(
        _("You are invited to %(account)s") % {"account": invitation.account},
        render_to_string("portal/team/invitation_email.txt", context),
        to=invitation.email,
        link=link,
        button=_("Join"),
    )
