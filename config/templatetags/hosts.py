"""The template filter ``readable``, which shows a host as people read it."""

from django import template

from foundation.addresses.hosts import readable_host

register = template.Library()
register.filter("readable", readable_host)
