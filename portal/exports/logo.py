"""The logo of PDFs, read from the file in the setting ``REPORT_LOGO``."""

from dataclasses import dataclass
from pathlib import Path

MAX_LOGO_BYTES = 256 * 1024
_FORMATS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpg", b"<svg": "svg", b"<?xml": "svg"}


class LogoError(ValueError):
    """The logo cannot be used; the message continues a sentence that begins with the setting's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logo:
    """The contents of the file, and its format: ``png``, ``jpg`` or ``svg``."""

    content: bytes
    format: str


def read_logo(path: str) -> Logo | None:
    """Return the logo at ``path``, if the path is not empty; raises LogoError."""
    if not path:
        return None
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_LOGO_BYTES + 1)
    except OSError as error:
        raise LogoError(f"names {path}, which cannot be read: {error.strerror}.") from error
    if len(content) > MAX_LOGO_BYTES:
        raise LogoError(f"names {path}, which has more than {MAX_LOGO_BYTES // 1024} KB.")
    for start, name in _FORMATS.items():
        if content.startswith(start):
            return Logo(content=content, format=name)
    raise LogoError(f"names {path}, which is not a PNG, JPEG or SVG file.")
