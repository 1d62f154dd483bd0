"""Hosts as people read them, in every template."""

from django import template

from foundation.addresses.hosts import readable_host

register = template.Library()
register.filter("readable", readable_host)
