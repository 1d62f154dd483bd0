"""``GET /v1/clients/<file>``: the guide, wheels and API collection, built from this installation's files."""

import base64
import functools
import hashlib
import io
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

import es1
import signed_api
from dashboard_api.api.request import error_response
from dashboard_api.errors import NotFound

GUIDE = "integrating.md"
_COLLECTION = "bruno.zip"
# An allow-list: a folder can also hold compiled files, or someone's .env with a secret.
_SUFFIXES = {".py", ".json", ".md", ".typed", ".bru", ".example"}


@csrf_exempt  # other methods get 405, not the CSRF page
@require_safe
def download(request: HttpRequest, name: str) -> HttpResponse:
    """Return the file with this name, or 404."""
    root = Path(settings.BASE_DIR)
    try:
        if name == GUIDE:
            text = (root / "docs" / GUIDE).read_bytes()
            return HttpResponse(text, content_type="text/markdown; charset=utf-8")
        if name == _COLLECTION:
            content = _zipped_folder(root / "docs/samples/bruno")
        elif name in WHEELS:
            content = _wheel(WHEELS[name])
        else:
            return error_response(NotFound(), request)
    except FileNotFoundError:  # a deployment can lack the documents
        return error_response(NotFound(), request)
    response = HttpResponse(content, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@functools.cache
def _name_and_version(package: Path) -> str:
    project = _project(package)
    return f"{project['name'].replace('-', '_')}-{project['version']}"


@functools.cache
def _project(package: Path) -> Mapping[str, str]:
    """Return the table ``project`` of the package's pyproject.toml."""
    project: Mapping[str, str] = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    return project


@functools.cache
def _zipped_folder(folder: Path) -> bytes:
    """Return ``folder`` as a ZIP archive; equal files give equal bytes."""
    return _archive(dict(_named_files(folder)))


@functools.cache
def _wheel(package: Path) -> bytes:
    """Return the wheel of a pure Python package: its files with METADATA, WHEEL and RECORD."""
    project = _project(package)
    info_folder = f"{_name_and_version(package)}.dist-info"
    requirements = "".join(f"Requires-Dist: {each}\n" for each in project["dependencies"])
    metadata = (
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        f"Summary: {project['description']}\nRequires-Python: {project['requires-python']}\n{requirements}"
    )
    wheel = "Wheel-Version: 1.0\nGenerator: threat-dashboard\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = dict(_named_files(package))
    files |= {f"{info_folder}/METADATA": metadata.encode(), f"{info_folder}/WHEEL": wheel.encode()}
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info_folder}/RECORD"] = f"{record}{info_folder}/RECORD,,\n".encode()  # without its own digest
    return _archive(files)


def _archive(files: Mapping[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with ZipFile(archive, "w") as zipped:
        for name, content in files.items():
            # ZipInfo has a fixed date, so that equal files give equal bytes.
            zipped.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    return archive.getvalue()


def _named_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name of each file, such as ``es1/signing.py``, and its content."""
    found = [
        file
        for file in folder.rglob("*")
        if file.suffix in _SUFFIXES and file.is_file() and not file.is_symlink()
    ]
    if not found:
        raise FileNotFoundError(folder)
    for file in sorted(found):
        if "build" not in file.relative_to(folder).parts:  # pip leaves copies in build/
            yield f"{folder.name}/{file.relative_to(folder).as_posix()}", file.read_bytes()


# The folder of each Python package, by the file name of its wheel, which pip reads.
WHEELS = {
    f"{_name_and_version(package)}-py3-none-any.whl": package
    for package in (Path(es1.__file__).parent, Path(signed_api.__file__).parent)
}
