"""Storage and middleware for static files; the manifest, which lists them all, is not served."""

from pathlib import Path
from typing import Any

from django.contrib.staticfiles.storage import ManifestFilesMixin
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage


class CollectedFiles(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage, which replaces the manifest atomically, so that a starting process finds it."""

    def save_manifest(self) -> None:
        """Write the manifest under another name, and rename it."""
        name = self.manifest_name
        self.manifest_name = f"{name}.new"
        super().save_manifest()
        Path(self.path(self.manifest_name)).replace(self.path(name))
        self.manifest_name = name


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise's middleware, which does not serve the manifest."""

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: Any = None) -> None:
        """Serve the file unless it is the manifest."""
        if not Path(path).name.startswith(ManifestFilesMixin.manifest_name):
            super().add_file_to_dictionary(url, path, stat_cache)  # type: ignore[no-untyped-call]
