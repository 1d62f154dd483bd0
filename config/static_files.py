"""Static files, except the list of all of them, which is for this process alone."""

from pathlib import Path
from typing import Any

from django.contrib.staticfiles.storage import ManifestFilesMixin
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise's middleware."""

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: Any = None) -> None:
        """Serve the file, unless it is the list."""
        if Path(path).name != ManifestFilesMixin.manifest_name:
            super().add_file_to_dictionary(url, path, stat_cache)  # type: ignore[no-untyped-call]
