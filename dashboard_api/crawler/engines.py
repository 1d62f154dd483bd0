"""Engines as data: the programs that scan, as the file of CRAWLER_ENGINES has them."""

import shutil
import sys
import tomllib
from pathlib import Path
from string import Template
from typing import Annotated

import msgspec
from django.conf import settings
from msgspec import Meta

_BUILT_IN = {"$essentials": Path(__file__).parent / "essentials/program.py"}
_PLACEHOLDERS = {"host": "host", "address": "address", "report": "report"}


class WrongEngines(ValueError):
    """The file of engines cannot be used; the message says why."""


class Engine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that scans ``$host`` at ``$address`` and writes ``$report``; ``$essentials`` is built in.

    A readable report is success, whatever the exit code; ``exit_codes`` give reasons where there is none.
    A scan is complete even if an ``optional`` engine is not installed. ``complete`` means that a report with
    an accepted exit code is whole, for formats that cannot express it.
    """

    name: Annotated[str, Meta(pattern="^[a-z0-9]+(-[a-z0-9]+)*$", max_length=50)]
    command: Annotated[list[str], Meta(min_length=1)]
    format: str = "auto"
    complete: bool = False
    optional: bool = False
    success: tuple[int, ...] = (0,)
    exit_codes: dict[str, Annotated[str, Meta(pattern="^[a-z_]+$", max_length=30)]] = {}
    seconds: Annotated[int, Meta(ge=1, le=3600)] = 60
    cpu_seconds: Annotated[int, Meta(ge=1, le=3600)] = 60
    memory_mb: Annotated[int, Meta(ge=16, le=65_536)] = 2048
    report_mb: Annotated[int, Meta(ge=1, le=64)] = 64
    log_kb: Annotated[int, Meta(ge=1, le=1024)] = 1024

    def program(self) -> str | None:
        """Return the path of the program; None if it is not installed."""
        return sys.executable if self.command[0] in _BUILT_IN else shutil.which(self.command[0])

    def arguments(self, *, host: str, address: str, report: Path) -> list[str]:
        """Return the arguments of the program."""
        values = {"host": host, "address": address, "report": str(report)}
        arguments = [Template(part).substitute(values) for part in self.command[1:]]
        if own := _BUILT_IN.get(self.command[0]):
            return [str(own), *arguments, *(["--private"] if settings.ALLOW_PRIVATE_HOSTS else [])]
        return arguments


class _File(msgspec.Struct, forbid_unknown_fields=True):
    engine: list[Engine]


def read_engines(path: Path) -> list[Engine]:
    """Return the engines of the file in their order; raise WrongEngines."""
    try:
        engines = msgspec.convert(tomllib.loads(path.read_text()), _File).engine
    except (OSError, ValueError) as error:  # also of TOML, UTF-8 and msgspec
        raise WrongEngines(f"CRAWLER_ENGINES {path}: {error}") from error
    for engine in engines:
        text = " ".join(engine.command[1:])
        try:
            Template(text).substitute(_PLACEHOLDERS)
        except (KeyError, ValueError) as error:
            raise WrongEngines(
                f"CRAWLER_ENGINES {path}: {engine.name} has a wrong $name ({error})."
            ) from error
        if not all(f"${name}" in text for name in ("address", "report")):
            raise WrongEngines(
                f"CRAWLER_ENGINES {path}: the command of {engine.name} must have $address and $report."
            )
    return engines
