"""Static files, except the list of all of them, which is for this process alone."""

from pathlib import Path
from typing import Any

from django.contrib.staticfiles.storage import ManifestFilesMixin
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage


class CollectedFiles(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage, which replaces the list at once, so that processes that start always find one."""

    def save_manifest(self) -> None:
        """Write the list under another name first."""
        name = self.manifest_name
        self.manifest_name = f"{name}.new"
        super().save_manifest()
        Path(self.path(self.manifest_name)).replace(self.path(name))
        self.manifest_name = name


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise's middleware."""

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: Any = None) -> None:
        """Serve the file, unless it is the list."""
        if not Path(path).name.startswith(ManifestFilesMixin.manifest_name):
            super().add_file_to_dictionary(url, path, stat_cache)  # type: ignore[no-untyped-call]
