"""The number of filters of a list in the admin that narrow it, for the button that opens them on a phone."""

from django import template
from django.contrib.admin.views.main import ChangeList

register = template.Library()


@register.filter
def active_filters(changelist: ChangeList) -> int:
    """Return how many filters have a value in the address."""
    return sum(bool(spec.used_parameters) for spec in changelist.filter_specs)
