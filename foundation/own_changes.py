"""Forms of objects that several people edit: each changes only what its sender changed."""

from typing import Any

from django import forms
from django.core.exceptions import FieldDoesNotExist


class OwnChanges:
    """A form of the admin that keeps what others changed since its page was shown.

    The page also holds the values that it showed, except passwords and secrets. A field that still has its
    own is not changed, and gets the value of now. Without them, as programs send forms, every field counts.
    """

    instance: Any
    fields: dict[str, forms.Field]
    cleaned_data: dict[str, Any]
    changed_data: list[str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        shown = {self.add_initial_prefix(name) for name in self.fields}  # type: ignore[attr-defined]
        is_compared = not self.is_bound or not shown.isdisjoint(self.data)  # type: ignore[attr-defined]
        for field in self.fields.values() if self.instance.pk is not None else ():
            is_secret = field.disabled or isinstance(field.widget, forms.PasswordInput)
            field.show_hidden_initial = is_compared and not is_secret

    def clean(self) -> Any:
        """Return the values, those of unchanged fields as they are now."""
        super().clean()  # type: ignore[misc]
        for name in self.cleaned_data.keys() - set(self.changed_data):
            if self.fields[name].show_hidden_initial:
                self.cleaned_data[name] = self._value_now(name)
        return self.cleaned_data

    def _value_now(self, name: str) -> Any:
        try:
            field = self.instance._meta.get_field(name)  # noqa: SLF001 - the documented API of models
        except FieldDoesNotExist:
            return self.cleaned_data[name]
        return field.value_from_object(self.instance) if field.many_to_many else getattr(self.instance, name)
