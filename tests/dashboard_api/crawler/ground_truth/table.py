"""The table of websites, as data: websites.toml explains it."""

import tomllib
from pathlib import Path

import msgspec

_FILE = Path(__file__).with_name("websites.toml")


class Website(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A website as it is served, and what a competent tester would report about it."""

    name: str
    line: str = ""  # of the cases
    headers: dict[str, str | list[str]] = {}  # a list is sent as several headers
    cookies: list[str] = []
    body: str = "<!doctype html><title>Shop</title><h1>Shop</h1><p>Hello</p>"
    status: int = 200
    https: bool = True
    plain: str = "redirect"  # to https; or page, or closed
    location: str = ""
    certificate: str = "good"
    versions: tuple[str, str] = ("1.2", "1.3")
    cors: str = ""  # origins that are reflected: any, null, partner, or that begins or ends like our own
    credentials: bool = False
    files: dict[str, str] = {}
    elsewhere: str = ""
    scripts: dict[str, str] = {}
    hosts: list[str] | None = None
    pins: dict[str, str] = {}
    wanted: list[str] = []
    says: str = ""  # in the evidence of the first wanted rule
    refused: str = ""  # the reason why the scan says nothing


def websites():
    """Return all websites of the table."""
    tables = tomllib.loads(_FILE.read_text())
    return [
        msgspec.convert(entry | {"line": line}, Website)
        for line, entries in tables.items()
        for entry in entries
    ]
