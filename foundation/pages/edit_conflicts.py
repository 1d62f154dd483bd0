"""Forms for objects that several people edit: no form overwrites changes that its sender did not see."""

from hashlib import sha256
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

_DIGEST_FIELD = "shown"
_CHANGED = _(
    "This was changed after your page was opened, perhaps by you. Open it again, and repeat your change if "
    "it is missing."
)


class SeesConflicts:
    """A form with a hidden digest of the values that its page showed; it is refused if they have changed.

    A form without the digest, as programs send it, is not checked.
    """

    instance: Any
    initial: dict[str, Any]
    data: Any
    add_prefix: Any

    def clean(self) -> Any:
        """Return the values; raises ValidationError after a change by others."""
        data = super().clean()  # type: ignore[misc]
        if self.data.get(self.add_prefix(_DIGEST_FIELD), "") not in ("", self._digest()):
            raise ValidationError(_CHANGED)
        return data

    def _post_clean(self) -> None:
        """Show errors of hidden fields on the form: others added the object meanwhile."""
        super()._post_clean()  # type: ignore[misc]
        errors: dict[str, Any] = self._errors  # type: ignore[attr-defined]
        for name in [each.name for each in self.hidden_fields() if each.name in errors]:  # type: ignore[attr-defined]
            del errors[name]
            self.add_error(None, _CHANGED)  # type: ignore[attr-defined]

    def shown(self) -> str:
        """Return the hidden field with the digest; after an error, with the submitted digest."""
        if self.instance.pk is None:
            return ""
        name = self.add_prefix(_DIGEST_FIELD)
        field = '<input type="hidden" name="{}" value="{}">'
        return format_html(field, name, self.data.get(name) or self._digest())

    def _digest(self) -> str:
        values = sorted((name, _text_of(value)) for name, value in self.initial.items())
        return sha256(repr(values).encode()).hexdigest()[:32]


def _text_of(value: Any) -> str:
    if isinstance(value, list) and all(hasattr(each, "pk") for each in value):
        return str(sorted(each.pk for each in value))  # the database returns them in any order
    return str(getattr(value, "pk", value))
