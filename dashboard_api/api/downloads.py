"""``GET /v1/clients/<file>``: what an integrator needs, made from the files of this installation."""

import functools
import io
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from dashboard_api.api.request import error_response
from dashboard_api.errors import NotFound

GUIDE = "integrating.md"
_FOLDERS = {"es1.zip": "es1", "bruno.zip": "docs/samples/bruno"}
# Named, because a folder can also have compiled files, or a person's .env with a secret.
_SUFFIXES = {".py", ".json", ".md", ".toml", ".typed", ".bru", ".example"}


@csrf_exempt  # other methods get 405, not the CSRF page
@require_safe
def download(request: HttpRequest, name: str) -> HttpResponse:
    """Return one of the files."""
    try:
        if name == GUIDE:
            text = (Path(settings.BASE_DIR) / "docs" / GUIDE).read_bytes()
            return HttpResponse(text, content_type="text/markdown; charset=utf-8")
        folder = Path(settings.BASE_DIR) / _FOLDERS[name]
        response = HttpResponse(_zipped(folder), content_type="application/zip")
    except (KeyError, FileNotFoundError):  # also where a deployment lacks the documents
        return error_response(NotFound(), request)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@functools.cache
def _zipped(folder: Path) -> bytes:
    """Return the files of ``folder`` as an archive, below its name; the same bytes each time."""
    archive = io.BytesIO()
    with ZipFile(archive, "w") as zipped:
        for file in _files(folder):
            name = f"{folder.name}/{file.relative_to(folder).as_posix()}"
            zipped.writestr(ZipInfo(name), file.read_bytes(), ZIP_DEFLATED)
    return archive.getvalue()


def _files(folder: Path) -> Iterator[Path]:
    found = [file for file in folder.rglob("*") if file.suffix in _SUFFIXES and file.is_file()]
    if not found:
        raise FileNotFoundError(folder)
    return iter(sorted(file for file in found if "build" not in file.relative_to(folder).parts))
