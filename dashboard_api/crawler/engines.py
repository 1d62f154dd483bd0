"""Engines as data: the scanning programs from the file CRAWLER_ENGINES."""

import shutil
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Annotated, Literal

import msgspec
from django.conf import settings
from msgspec import Meta

from dashboard_api.crawler import policy
from foundation.addresses.domains import registrable_domain
from foundation.outbound.name_servers import resolvers

_PROGRAM = str(Path(__file__).parent / "essentials/program.py")
# The kind of check of each built-in engine, an argument of the program.
_BUILT_IN = {"$essentials": "website", "$dns": "domain", "$exposed": "files", "$scripts": "scripts"}
_PLACEHOLDERS = ("host", "address", "report", "agent", "url", "proxy", "tunnel")


class WrongEngines(ValueError):
    """The file of engines is invalid; the message says why."""


class Engine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that scans ``$host`` at ``$address`` and writes ``$report``.

    ``$essentials`` (the website), ``$dns`` (its domain), ``$exposed`` (its files) and ``$scripts`` are built
    in. Other programs have no network: they reach the website through ``$proxy`` (a URL), which reads their
    requests, or ``$tunnel`` (HOST:PORT, for scanners of TLS). ``$url`` is its home page, ``$agent`` the
    User-Agent. ``reads`` are other files and folders that the program reads.

    A readable report means success, whatever the exit code; without a report, ``exit_codes`` give the
    reason. The engine runs in scans of its ``profile`` and larger ones; with ``domains_only``, not for IP
    addresses or names of this machine. A scan is complete even if an ``optional`` engine is not installed.

    ``complete`` is for formats that cannot express completeness: a report with an exit code in ``success``
    is whole, unless the output contains a text of ``complete_unless``.
    """

    name: Annotated[str, Meta(pattern="^[a-z0-9]+(-[a-z0-9]+)*$", max_length=50)]  # also a slug of a source
    source: str = ""  # of its reports, and its folder; default: ``name``
    category: str = ""  # distinguishes the scans of engines that share a source
    title: str = ""
    command: Annotated[list[str], Meta(min_length=1)]
    format: str = "auto"
    complete: bool = False
    complete_unless: list[Annotated[str, Meta(min_length=1)]] = []
    optional: bool = False
    domains_only: bool = False
    profile: Literal["quick", "standard", "deep"] = "quick"
    reads: list[Annotated[str, Meta(pattern="^/.")]] = []
    success: tuple[int, ...] = (0,)
    exit_codes: dict[str, Annotated[str, Meta(pattern="^[a-z_]+$", max_length=30)]] = {}
    seconds: Annotated[int, Meta(ge=1, le=3600)] = 60
    cpu_seconds: Annotated[int, Meta(ge=1, le=3600)] = 60
    memory_mb: Annotated[int, Meta(ge=16, le=65_536)] = 2048
    report_mb: Annotated[int, Meta(ge=1, le=64)] = 64
    log_kb: Annotated[int, Meta(ge=1, le=1024)] = 1024

    @property
    def reports_as(self) -> str:
        """The source of the engine's reports."""
        return self.source or self.name

    @property
    def has_proxy(self) -> bool:
        """Whether the engine reaches the website through our proxy."""
        return any("$proxy" in part for part in self.command)

    @property
    def has_tunnel(self) -> bool:
        """Whether the engine reaches the website through a tunnel."""
        return any("$tunnel" in part for part in self.command)

    @property
    def is_built_in(self) -> bool:
        """Whether the engine is a part of the product."""
        return self.command[0] in _BUILT_IN

    @property
    def files(self) -> list[str]:
        """Further files and folders that the engine reads behind the wall."""
        is_of_scripts = self.command[0] == "$scripts"
        retirejs = [str(settings.RETIREJS_FILE)] if is_of_scripts and settings.RETIREJS_FILE else []
        return [*self.reads, *retirejs]

    @property
    def is_of_domain(self) -> bool:
        """Whether the engine checks the domain: it asks name servers, and judges no page of the website."""
        return self.command[0] == "$dns"

    def retests(self, source: str) -> bool:
        """Return whether the engine retests findings of this source; deep engines need consent, so never."""
        return source == self.name == self.reports_as and self.profile != "deep"

    def is_part_of(self, profile: str, host: str) -> bool:
        """Return whether the engine runs in scans of this profile and this website."""
        is_for_host = not self.domains_only or registrable_domain(host) is not None
        return is_for_host and policy.rank(self.profile) <= policy.rank(profile)

    def program(self) -> str | None:
        """Return the path of the installed program; one from ``make engines`` comes first."""
        name = self.command[0]
        if name in _BUILT_IN:
            return sys.executable
        built_here = settings.BASE_DIR / "var/engines" / self.reports_as / "bin"
        return shutil.which(name, path=built_here) or shutil.which(name)

    @property
    def runs_here(self) -> bool:
        """Whether this deployment runs the engine: it is not optional, or is installed on this machine."""
        return not self.optional or self.program() is not None

    def arguments(
        self,
        *,
        host: str,
        address: str,
        report: Path,
        agent: str = "",
        url: str = "",
        proxy: str = "",
        tunnel: str = "",
        gate: int | None = None,
        never: Sequence[str] = (),
        expected: Path | None = None,
    ) -> list[str]:
        """Return the arguments of the program; ``never`` lists opted-out hosts and address prefixes.

        Built-in engines open connections through ``gate``, the number of an inherited file. ``expected`` is a
        file for our engine of scripts, with expected hosts and pins.
        """
        values = (host, address, str(report), agent, url, proxy, tunnel)  # in the order of _PLACEHOLDERS
        by_name = dict(zip(_PLACEHOLDERS, values, strict=True))
        arguments = [Template(part).substitute(by_name) for part in self.command[1:]]
        if kind := _BUILT_IN.get(self.command[0]):
            opt_outs = [f"--never={value}" for value in never]
            if kind == "scripts" and settings.RETIREJS_FILE:
                opt_outs.append(f"--retirejs={settings.RETIREJS_FILE}")
            pins = [f"--expected={expected}"] if expected else []
            way_out = [] if gate is None else [f"--gate={gate}"]
            return [_PROGRAM, kind, *arguments, agent, *way_out, *_options(), *opt_outs, *pins]
        return arguments


def _options() -> list[str]:
    """Return our settings as options of the built-in program, which runs without Django's settings."""
    options = ["--private"] if settings.ALLOW_PRIVATE_HOSTS else []
    options += [f"--rdap={settings.RDAP_SERVICE}"] if settings.RDAP_SERVICE else []
    for address, port in resolvers():
        options += ["--resolver", address, str(port)]
    for name, port in settings.LOCALHOST_WEBSITES.items():
        options += ["--website", name, str(port)]
    return options


class _File(msgspec.Struct, forbid_unknown_fields=True):
    engine: list[Engine]


def check_runs(source: str) -> None:
    """Raise NotScannable unless an engine of this deployment retests findings of this source."""
    try:
        engines = read_engines(settings.CRAWLER_ENGINES)
    except WrongEngines:
        engines = []
    if not any(engine.retests(source) and engine.runs_here for engine in engines):
        raise policy.NotScannable("This scanner does not run here.", code="no_engine")


def read_engines(path: Path) -> list[Engine]:
    """Return the engines in the order of the file; raise WrongEngines."""
    try:
        engines = msgspec.convert(tomllib.loads(path.read_text()), _File).engine
    except (OSError, ValueError) as error:  # ValueError: also from TOML, UTF-8 and msgspec
        raise WrongEngines(f"CRAWLER_ENGINES {path}: {error}") from error
    for engine in engines:
        text = " ".join(engine.command[1:])
        try:
            Template(text).substitute(dict.fromkeys(_PLACEHOLDERS, ""))
        except (KeyError, ValueError) as error:
            raise WrongEngines(
                f"CRAWLER_ENGINES {path}: {engine.name} has a wrong $name ({error})."
            ) from error
        has_way = "$address" in text if engine.is_built_in else engine.has_proxy != engine.has_tunnel
        if "$report" not in text or not has_way:
            raise WrongEngines(
                f"CRAWLER_ENGINES {path}: {engine.name} must have $report, and either $proxy or $tunnel "
                "(a built-in engine $address): scanners have no network of their own."
            )
    return engines
