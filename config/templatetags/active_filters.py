"""The number of active filters of an admin list, for the button that opens the filters on a phone."""

from django import template
from django.contrib.admin.views.main import ChangeList

register = template.Library()


@register.filter
def active_filters(changelist: ChangeList) -> int:
    """Return the number of filters with a value in the address."""
    return sum(bool(spec.used_parameters) for spec in changelist.filter_specs)
