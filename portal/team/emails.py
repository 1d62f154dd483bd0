"""E-mails to people who are invited."""

import re

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from portal import link_emails
from portal.models import Invitation

_DOTS = r"[.@\u3002\uff0e\uff61]"  # all of host names, and the sign of addresses
_JOINTS = re.compile(rf"://|(?<=[^\W\d_]){_DOTS}(?=\w)|{_DOTS}(?=[^\W\d_])")  # not of numbers such as 2.0


def send_invitation(invitation: Invitation, link: str, *, by: str) -> None:
    """Send ``link`` to the invited address; raises OSError if the mail server does not accept it."""
    account = _without_addresses(str(invitation.account))
    context = {"invitation": invitation, "account": account, "link": link, "by": _without_addresses(by)}
    link_emails.send(
        _("You are invited to %(account)s") % {"account": account},
        render_to_string("portal/team/invitation_email.txt", context),
        to=invitation.email,
        link=link,
        button=_("Join"),
    )


def _without_addresses(name: str) -> str:
    """Return ``name`` so that no mail program makes a link of it: strangers read what anyone may choose."""
    return _JOINTS.sub(" ", name)
