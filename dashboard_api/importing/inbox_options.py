"""Options for reports from TOML files in the inbox.

``import.toml`` applies to every report of its folder, a sidecar such as ``report.json.toml`` only to
``report.json``. The sidecar overrides ``import.toml``, and both override the command's options.
"""

import tomllib
from collections.abc import Callable
from datetime import date, datetime, time
from difflib import get_close_matches
from typing import Any

from django.utils import timezone

from dashboard_api.limits import MAX_CATEGORY_LENGTH
from dashboard_api.scanners import READERS
from dashboard_api.scanners.times import as_utc

OF_FOLDER = "import.toml"
SIDECAR = ".toml"  # the suffix after the name of the report
MAX_BYTES = 64 * 1024  # of a file of options


class WrongOptions(ValueError):
    """An option that cannot be used; the message continues the file's name, and says what to write."""


def options_in(data: bytes, *, is_sidecar: bool) -> dict[str, Any]:
    """Return the fields of ``ReportOptions`` that a file sets; raise WrongOptions."""
    if len(data) > MAX_BYTES:
        raise WrongOptions("is too large for a file of options")
    try:
        values = tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise WrongOptions("is not UTF-8 text") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise WrongOptions(f"is not TOML: {error}") from error
    if "scanned_at" in values and not is_sidecar:
        raise WrongOptions(
            "says scanned_at, which differs for each report: say it in a file next to the report, "
            "such as report.json.toml"
        )
    return dict(_field(key, value) for key, value in values.items())


def _field(key: str, value: object) -> tuple[str, Any]:
    """Return the name and value of the field that ``key`` sets; raise WrongOptions."""
    if key not in _OPTIONS:
        similar = get_close_matches(key, _OPTIONS, n=1)
        advice = f"did you mean {similar[0]}" if similar else f"it may say {', '.join(_OPTIONS)}"
        raise WrongOptions(f"says {key!a}, which is not an option: {advice}")
    name, check = _OPTIONS[key]
    return name, check(value)


def _format(value: object) -> str:
    if isinstance(value, str) and value in ("auto", *READERS):
        return value
    raise WrongOptions(f"says format = {value!a}, which must be one of auto, {', '.join(READERS)}")


def _complete(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise WrongOptions(f"says complete = {value!a}, which must be true or false, without quotes")


def _scanned_at(value: object) -> datetime:
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time.min)
    if not isinstance(value, datetime):
        raise WrongOptions(
            f"says scanned_at = {value!a}, which must be a time such as 2026-01-31T14:00:00Z, without quotes"
        )
    moment = as_utc(value)
    if moment is None:
        raise WrongOptions(f"says scanned_at = {value}, which is out of range")
    if moment > timezone.now():
        raise WrongOptions(f"says scanned_at = {value}, which is in the future")
    return moment


def _base_url(value: object) -> str:
    if isinstance(value, str) and value.lower().startswith(("http://", "https://")):
        return value
    raise WrongOptions(f"says base_url = {value!a}, which must start with http:// or https://")


def _targets(value: object) -> list[str]:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise WrongOptions(f'says targets = {value!a}, which must be a list such as ["www.example.com:8443"]')


def _category(value: object) -> str:
    if isinstance(value, str) and len(value) <= MAX_CATEGORY_LENGTH:
        return value
    raise WrongOptions(
        f"says category = {ascii(value)[:100]}, which must be a name of at most {MAX_CATEGORY_LENGTH} letters"
    )


# For each option: its field in ``ReportOptions``, and the function that checks the value.
_OPTIONS: dict[str, tuple[str, Callable[[object], Any]]] = {
    "format": ("format_name", _format),
    "complete": ("complete", _complete),
    "scanned_at": ("scanned_at", _scanned_at),
    "base_url": ("base_url", _base_url),
    "targets": ("targets", _targets),
    "category": ("category", _category),
}
