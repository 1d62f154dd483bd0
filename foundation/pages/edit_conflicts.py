"""Forms of objects that several people edit: none is saved over changes that its sender did not see."""

from hashlib import sha256
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

_NAME = "shown"
_CHANGED = _(
    "This was changed after your page was opened, perhaps by you. Open it again, and repeat your change if "
    "it is missing."
)


class SeesConflicts:
    """A form whose page also sends a digest of what it showed; it is refused if that has changed since.

    Programs send forms without a digest: those are not checked.
    """

    instance: Any
    initial: dict[str, Any]
    data: Any
    add_prefix: Any

    def clean(self) -> Any:
        """Return the values; raises ValidationError after a change by others."""
        data = super().clean()  # type: ignore[misc]
        if self.data.get(self.add_prefix(_NAME), "") not in ("", self._digest()):
            raise ValidationError(_CHANGED)
        return data

    def _post_clean(self) -> None:
        """Check the object; one that others added meanwhile is an error of a hidden field, shown nowhere."""
        super()._post_clean()  # type: ignore[misc]
        errors: dict[str, Any] = self._errors  # type: ignore[attr-defined]
        for name in [each.name for each in self.hidden_fields() if each.name in errors]:  # type: ignore[attr-defined]
            del errors[name]
            self.add_error(None, _CHANGED)  # type: ignore[attr-defined]

    def shown(self) -> str:
        """Return the hidden field; after an error, with the digest that was sent."""
        if self.instance.pk is None:
            return ""
        name = self.add_prefix(_NAME)
        field = '<input type="hidden" name="{}" value="{}">'
        return format_html(field, name, self.data.get(name) or self._digest())

    def _digest(self) -> str:
        values = sorted((name, _text_of(value)) for name, value in self.initial.items())
        return sha256(repr(values).encode()).hexdigest()[:32]


def _text_of(value: Any) -> str:
    if isinstance(value, list) and all(hasattr(each, "pk") for each in value):
        return str(sorted(each.pk for each in value))  # a database gives them in any order
    return str(getattr(value, "pk", value))
