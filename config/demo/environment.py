"""The demo's ``.env`` file, written before Django reads a setting."""

import argparse
import os
import secrets
import socket
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path

from cryptography.fernet import Fernet

from config.demo import website
from config.operations.environment import text_of
from dashboard_api.crawler import wall

MARKER = "# Written by 'manage.py demo', which reads it again. Not for production."
DEFAULT_PORT, _LAST_PORT = 8000, 65535
DATABASE_URL = "sqlite:///var/demo/records.sqlite3"
# Settings that make the demo complete, and keep it away from other data.
REQUIRED = {
    "DATABASE_URL": DATABASE_URL,
    "REDIS_URL": "",
    "ENABLE_API": "true",
    "ENABLE_PORTAL": "true",
    "PORTAL_ACCOUNT_REF": "",
    "SITE_API_SECRET": "",
    "DASHBOARD_BASE_URL": "",  # the portal calls the service in its own process
}
# Beginnings of lines that every start removes, to write them again.
_REWRITTEN = (
    "DASHBOARD_BASE_URL=",  # only removed: an earlier version called itself over HTTP
    "PORTAL_BASE_URL=",
    "STAFF_SECOND_FACTOR=",
    "CRAWLER_ENABLED=",
    "CRAWLER_WALL=",
    "SIGN_UP=",
    "LOCALHOST_WEBSITES=",
)


class DemoRefused(SystemExit):
    """The demo cannot start; raised before settings exist, so it ends the command with its message."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``manage.py demo``."""
    parser.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help="serve on this port (default: %(default)s)"
    )
    parser.add_argument("--no-serve", action="store_true", help="prepare everything, then stop")
    parser.add_argument("--reset", action="store_true", help="delete the demo's data and start again")


def prepare_environment(
    base_dir: Path, arguments: Sequence[str], environ: Mapping[str, str] = os.environ
) -> None:
    """Write ``.env`` if it is missing, and set its address to ``--port``.

    Raises DemoRefused, without any change, if the port is in use or other settings would apply.
    """
    parser = argparse.ArgumentParser(
        prog="manage.py demo", description="Set up a demo on this machine and serve it."
    )
    add_options(parser)
    options, _ = parser.parse_known_args(arguments)
    file = base_dir / ".env"
    lines = _read(file) if file.exists() else _new_lines()
    lines = [line for line in lines if not line.startswith(_REWRITTEN)]
    lines.append(f"PORTAL_BASE_URL=http://127.0.0.1:{options.port}")
    lines.append("STAFF_SECOND_FACTOR=false")  # only this machine reaches the demo
    lines += ["CRAWLER_ENABLED=true", "SIGN_UP=open"]
    lines.append(f"CRAWLER_WALL={'false' if wall.problem_here() else 'true'}")
    lines.append(f"LOCALHOST_WEBSITES={website.NAME}:{website_port(options.port)}")
    if not options.no_serve:
        _refuse_busy_port(options.port, options.port)
        _refuse_busy_port(website_port(options.port), options.port)
    _refuse_other_settings(dict(line.split("=", maxsplit=1) for line in lines if "=" in line), environ)
    _write(file, lines)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _LAST_PORT):
        raise argparse.ArgumentTypeError("must be a number from 1 to 65535")
    return int(text)


def website_port(port: int) -> int:
    """Return the port of the demo's website, next to the port of the demo."""
    return port + 1 if port < _LAST_PORT else port - 1


def _refuse_busy_port(port: int, demo_port: int) -> None:
    """Raise DemoRefused if ``port``, the demo's or the next one, is in use."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise DemoRefused(
                f"Port {port} cannot be used ({error.strerror}). Nothing was changed. "
                f"Choose another: --port {(demo_port + 1) % _LAST_PORT + 1}"
            ) from error


def _new_lines() -> list[str]:
    return [
        MARKER,
        f"SECRET_KEY={secrets.token_urlsafe(48)}",
        f"MASTER_KEYS=1:{Fernet.generate_key().decode()}",
        f"DATABASE_URL={DATABASE_URL}",
        "ALLOWED_HOSTS=localhost,127.0.0.1,[::1]",
        "ALLOW_PRIVATE_HOSTS=true",
        "EMAIL_URL=consolemail://",
        "SUPPORT_URL=https://example.com/support",
        "RENEW_URL=https://example.com/renew",
        "SAMPLE_WEBSITE=acct_0001/shop.example.com",
        "PUBLIC_DEMO=true",
        "IMPRINT_URL=https://example.com/imprint",
        "PRIVACY_URL=https://example.com/privacy",
        "TERMS_URL=https://example.com/terms",
        f"CALLBACK_SECRETS_STANDARD=whsec_{b64encode(secrets.token_bytes(32)).decode()}",
        "CALLBACK_LIVEMODE=false",
        "STATUS_URL=https://example.com/status",
        "SECURITY_TXT_URL=https://example.com/.well-known/security.txt",
        f"DEMO_PASSWORD={secrets.token_urlsafe(12)}",
    ]


def _read(file: Path) -> list[str]:
    lines = text_of(file).splitlines()
    if lines[:1] != [MARKER] or not any(line.startswith("DEMO_PASSWORD=") for line in lines):
        raise DemoRefused(
            "The demo needs its own settings, and it did not write the .env file here.\n"
            "Nothing was changed. Move that file away, or try the demo in a fresh clone."
        )
    return lines


def _refuse_other_settings(settings: Mapping[str, str], environ: Mapping[str, str]) -> None:
    for name, expected in {**settings, **REQUIRED}.items():
        if environ.get(name, expected) != expected:
            raise DemoRefused(
                f"The demo needs its own settings, and {name} is set in the environment.\n"
                f"Nothing was changed. Try again without it: unset {name}"
            )
        if settings.get(name, expected) != expected:
            raise DemoRefused(
                f"The demo needs its own settings, and {name} in .env was changed.\n"
                "Nothing was changed. Move .env away, and the demo writes a new one."
            )


def _write(file: Path, lines: Sequence[str]) -> None:
    try:
        file.touch(mode=0o600)
        file.write_text("\n".join(lines) + "\n")
    except OSError as error:
        raise DemoRefused(f"Cannot write {file}: {error.strerror}.") from error
