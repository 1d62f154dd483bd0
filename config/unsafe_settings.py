"""Settings that work and are unsafe in production, for ``manage.py doctor``; wrong ones stop the start."""

import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings

_THIS_MACHINE = {None, "", "localhost", "127.0.0.1", "::1"}
_ENCRYPTED_MODES = {"require", "verify-ca", "verify-full"}
_READABLE_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def unsafe_settings() -> Iterator[str]:
    """Yield a line for each; none for a deployment that only this machine can reach."""
    if not settings.HTTPS:
        return
    if not settings.STAFF_SECOND_FACTOR:
        yield "STAFF_SECOND_FACTOR is off: a password alone opens the admin. Remove the setting."
    if settings.ALLOW_PRIVATE_HOSTS:
        yield "ALLOW_PRIVATE_HOSTS is on: websites may be machines of your own network. Remove the setting."
    if not settings.SECURE_HSTS_SECONDS:
        yield "HSTS_SECONDS is 0: browsers also open the portal without encryption. Set 3600 or more."
    yield from _risks_of_data()
    yield from _unencrypted_connections()
    yield from _readable_files()


def _risks_of_data() -> Iterator[str]:
    """Yield a line for each setting that can lose nonces, or that publishes made-up or real data."""
    if "sqlite" in settings.DATABASES["default"]["ENGINE"] and settings.SQLITE_SYNCHRONOUS == "NORMAL":
        yield (
            "SQLITE_SYNCHRONOUS is NORMAL: a power cut can lose the last nonces, and their calls can then be "
            "replayed until their timestamps are too old. Set FULL: each call then waits for the disk."
        )
    if settings.PUBLIC_DEMO:
        yield "PUBLIC_DEMO is on: the public statistics and the live feed are made up. Remove the setting."
    if settings.SAMPLE_WEBSITE:
        yield (
            f"SAMPLE_WEBSITE is {settings.SAMPLE_WEBSITE}: everyone can read the findings and notes of this "
            "website at /sample/. Remove the setting unless its data are made up."
        )


def _unencrypted_connections() -> Iterator[str]:
    """Yield a line for each server on another machine that is reached without encryption."""
    database = settings.DATABASES["default"]
    host, mode = database.get("HOST"), database.get("OPTIONS", {}).get("sslmode")
    is_file = "sqlite" in database["ENGINE"] or str(host).startswith("/")
    if not is_file and host not in _THIS_MACHINE and mode not in _ENCRYPTED_MODES:
        yield f"DATABASE_URL reaches {host} perhaps without encryption: end it with ?sslmode=verify-full."
    for name, plain, advice in (
        ("REDIS_URL", {"redis"}, "begin it with rediss://"),
        ("EMAIL_URL", {"smtp"}, "begin it with smtp+tls://"),
    ):
        address = urlsplit(getattr(settings, name))
        if address.scheme in plain and address.hostname not in _THIS_MACHINE:
            yield f"{name} reaches {address.hostname} without encryption: {advice}."


def _readable_files() -> Iterator[str]:
    """Yield a line for each file with secrets or records that other users of this machine can read."""
    databases = [each["NAME"] for each in settings.DATABASES.values() if "sqlite" in each["ENGINE"]]
    for path in map(Path, (settings.BASE_DIR / ".env", *databases)):
        if path.is_file() and path.stat().st_mode & _READABLE_BY_OTHERS:
            yield f"{path} can be read by other users of this machine: run 'chmod 600 {path}'."
