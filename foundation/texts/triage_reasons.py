"""Prepared reasons for decisions, stored in English and shown in the reader's language."""

from collections.abc import Mapping

from django.utils.translation import gettext_noop as _

# By decision; the keys are form values.
REASONS: Mapping[str, Mapping[str, str]] = {
    "false_positive": {
        "mistaken": _("Checked by hand: the scanner is mistaken, and there is no problem."),
        "unused": _("The reported part is not in use, so the problem cannot be exploited."),
        "duplicate": _("Another finding reports the same problem."),
    },
    "accepted_risk": {
        "agreed": _("Agreed with you: the risk is small, and a fix costs more than it is worth."),
        "protected": _("Another protection prevents the attack."),
        "planned": _("A fix is planned for a later release."),
    },
    "fixed": {
        "gone": _("Checked by hand: the problem is gone."),
        "removed": _("The affected part was removed."),
    },
    "reopen": {
        "still": _("Checked by hand: the problem is still there."),
        "wrong": _("The earlier decision was based on wrong information."),
    },
    "confirm": {
        "reproduced": _("Checked by hand: the problem can be reproduced."),
        "evidence": _("The scanner's evidence proves the problem."),
    },
    "unconfirm": {
        "mistaken": _("The confirmation was a mistake."),
        "again": _("We are checking it again."),
    },
    "severity": {
        "less": _("Checked by hand: an attack would do less harm than the scanner assumes."),
        "more": _("Checked by hand: an attack would do more harm than the scanner assumes."),
    },
}
