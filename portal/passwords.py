"""Choosing a password, in our words wherever one is chosen."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

LABELS = {
    "oldpassword": _("Password until now"),
    "password1": _("New password"),
    "password2": _("New password, once more"),
}
RULES = _("At least 12 characters; not one that many people use, and not like your name or address.")


class ChosenPassword:
    """For the forms of others that have these fields: their labels, their rules, and nothing else."""

    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in LABELS.keys() & self.fields.keys():
            field = self.fields[name]
            field.label, field.help_text = LABELS[name], RULES if name == "password1" else ""
            field.widget.attrs.pop("placeholder", None)
