"""E-mails to invited people, and to owners about a new owner."""

import re

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from foundation.texts.words import on_one_line
from portal.emails import to_owners, with_link
from portal.models import Invitation, MembershipChange

_DOTS = r"[.@\u3002\uff0e\uff61]"  # every dot that host names allow, and "@"
# "://", or a dot next to a letter: not in numbers such as 2.0
_LINK_SIGNS = re.compile(rf"://|(?<=[^\W\d_]){_DOTS}(?=\w)|{_DOTS}(?=[^\W\d_])")


def send_invitation(invitation: Invitation, link: str, *, by: str) -> None:
    """Send ``link`` to the invited address; raises OSError if the mail server does not accept it."""
    account = _without_addresses(str(invitation.account))
    context = {"invitation": invitation, "account": account, "link": link, "by": _without_addresses(by)}
    with_link.send(
        _("You are invited to %(account)s") % {"account": account},
        render_to_string("portal/team/invitation_email.txt", context),
        to=invitation.email,
        link=link,
        button=_("Join"),
    )


def send_new_owner(change: MembershipChange) -> None:
    """Notify the other owners of a new owner; a failing mail server is only logged."""
    to_owners.send_now(
        change.account, f"owner:{change.pk}", lambda: _new_owner_words(change), without=change.person
    )


def _new_owner_words(change: MembershipChange) -> to_owners.Words:
    person, account = (_without_addresses(str(name)) for name in (change.person, change.account))
    subject = _("%(person)s is now an owner of %(account)s") % {"person": person, "account": account}
    text = _(
        "Owners manage all members, including other owners, and issue API secrets. “Recent changes” on "
        "the team page says how this person became one. If you did not expect this, remove this person at "
        "once, change your password and sign out everywhere else. If you cannot, contact support."
    )
    return to_owners.Words(
        subject=on_one_line(subject), text=text, button=_("Open the team"), path=reverse("portal:team")
    )


def _without_addresses(name: str) -> str:
    """Return ``name`` without parts that mail programs turn into links: anyone may choose a name."""
    return _LINK_SIGNS.sub(" ", name)
