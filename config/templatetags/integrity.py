"""The integrity of scripts and style sheets; with the project, since sign-in and error pages need it, too."""

import base64
import hashlib
from functools import cache
from pathlib import Path

from django import template
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import ManifestFilesMixin, staticfiles_storage

register = template.Library()


@register.simple_tag
def integrity(path: str) -> str:
    """The ``integrity`` attribute of the static file ``path``."""
    return digest_of(path)


@cache
def digest_of(path: str) -> str:
    """The digest of a static file's bytes as they are served, which do not change while this runs."""
    digest = hashlib.sha384(_served_bytes(path)).digest()
    return "sha384-" + base64.b64encode(digest).decode()


def _served_bytes(path: str) -> bytes:
    """A manifest storage rewrites what it collects; any other serves what the finders find."""
    if isinstance(staticfiles_storage, ManifestFilesMixin):
        with staticfiles_storage.open(staticfiles_storage.stored_name(path)) as file:
            return bytes(file.read())
    found = finders.find(path)
    if not found:
        raise template.TemplateSyntaxError(f"There is no static file {path}.")
    return Path(str(found)).read_bytes()
