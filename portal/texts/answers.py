"""Labels of answers to findings, of their outcomes, and of events in a conversation."""

from django.utils.translation import gettext_lazy as _

from signed_api.answers import ACCEPTED, DISPUTED, FIXED, WAITING, WILL_FIX

CHOICES = {
    WILL_FIX: _("We will fix it"),
    ACCEPTED: _("We accept the risk"),
    DISPUTED: _("It is not a problem"),
    FIXED: _("We fixed it"),
}
KINDS = {**CHOICES, WAITING: _("We accept the risk")}
OUTCOMES = {
    "replaced": _("Replaced by a later answer"),
    "withdrawn": _("Withdrawn"),
    "declined": _("Declined by the second person"),
    "expired": _("Ended on its last day"),
    "worse": _("Ended, because the finding got worse"),
    "agreed": _("An analyst agreed: it is not a problem"),
    "disagreed": _("An analyst disagreed"),
    "overtaken": _("A scan no longer found it"),
    "fixed": _("Fixed"),
    "gone": _("Fixed: a scan no longer found it"),
    "still_there": _("A scan still found it"),
    "decided": _("An analyst closed the finding"),
}
# What happened in a conversation, with the person who did it, and without one
EVENTS_BY = {
    "disputed": _("%(who)s said that it is not a problem"),
    "agreed": _("%(who)s agreed: it is not a problem"),
    "disagreed": _("%(who)s disagreed"),
    "asked": _("%(who)s asked a question"),
}
EVENTS = {
    "declined": _("The second person declined the accepted risk"),
    "expired": _("The accepted risk ended on its last day"),
    "ends_soon": _("The accepted risk ends in 14 days"),
    "worse": _("The accepted risk ended, because the finding got worse"),
    "agreed": _("An analyst agreed: it is not a problem"),
    "overtaken": _("A scan no longer found it"),
    "fixed": _("A scan no longer found it"),
    "gone": _("A scan no longer found it"),
    "still_there": _("A scan still found it"),
    "decided": _("An analyst closed the finding"),
}
