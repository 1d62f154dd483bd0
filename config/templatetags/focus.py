"""The field that has the focus when a form opens."""

from django import template
from django.forms import BoundField
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def focused(field: BoundField) -> SafeString:
    """Return the field with the attribute ``autofocus``."""
    return field.as_widget(attrs={"autofocus": True})
