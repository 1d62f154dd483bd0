"""The integrity attribute of scripts and style sheets, also for the sign-in and error pages."""

from django import template

from foundation.pages.integrity import integrity

register = template.Library()
register.simple_tag(integrity)
