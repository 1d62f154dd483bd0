"""The integrity attribute of scripts and style sheets: the digest of the file that is served."""

import base64
import hashlib
from functools import cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import ManifestFilesMixin, staticfiles_storage
from django.template import TemplateSyntaxError


def integrity(path: str) -> str:
    """Return the ``integrity`` attribute of the static file ``path``."""
    file = _served_file(path)
    return _digest(file, file.stat().st_mtime_ns)


def _served_file(path: str) -> Path:
    """Return the served file: the one that a manifest storage rewrote, else the one in the source."""
    if isinstance(staticfiles_storage, ManifestFilesMixin) and not settings.DEBUG:
        return Path(staticfiles_storage.path(staticfiles_storage.stored_name(path)))
    file = finders.find(path)
    if not file:
        raise TemplateSyntaxError(f"There is no static file {path}.")
    return Path(str(file))


@cache
def _digest(file: Path, _changed_at: int) -> str:
    """Return the digest, which is cached until the file changes: the time is only a part of the key."""
    digest = hashlib.sha384(file.read_bytes()).digest()
    return "sha384-" + base64.b64encode(digest).decode()
