"""The field at which a form begins."""

from django import template
from django.forms import BoundField
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def focused(field: BoundField) -> SafeString:
    """Return the field with the attribute that lets a browser begin there."""
    return field.as_widget(attrs={"autofocus": True})
