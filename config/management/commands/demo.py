"""Set up and serve a demo of the whole product."""

import logging
import os
import signal
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from threading import Event, Thread
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections

from config.demo import seeding, website
from config.demo.accounts import read_accounts
from config.demo.environment import DATABASE_URL, add_options, website_port
from config.operations.databases import databases
from dashboard_api.crawler import wall
from dashboard_api.models import Account, Secret
from dashboard_api.ownership.checking import FILE_PATH
from foundation.sealing import CannotUnseal
from portal.models import Account as PortalAccount
from portal.models import Website

EXAMPLE = "shop.example.com"
CLAIM_CHECK_SECONDS = 30.0  # between two rounds; each checks only claims that are due
WEBSITE_FOLDER = settings.BASE_DIR / "var/demo/website"


class Command(BaseCommand):
    """manage.py demo."""

    help = "Set up a demo on this machine and serve it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_options(parser)

    def handle(self, *args: Any, port: int, no_serve: bool, reset: bool, **options: Any) -> None:
        logging.getLogger("audit").setLevel(logging.WARNING)  # its lines would hide the addresses below
        files = _demo_files()
        password = os.environ["DEMO_PASSWORD"]  # from the .env that config/demo/environment.py wrote
        try:
            if reset:
                _delete(files)
            self._prepare(password)
        except KeyboardInterrupt:
            raise CommandError("Stopped before the demo was ready. Start it again to continue.") from None
        website.create(WEBSITE_FOLDER)
        self.stdout.write(_introduction(port, password))
        self.stdout.flush()
        if warning := wall_warning():
            self.stderr.write(warning, style_func=self.style.WARNING)
        if not no_serve:
            with website.serving(WEBSITE_FOLDER, website_port(port)), _scan_worker(), checking_claims():
                os.environ["DJANGO_RUNSERVER_HIDE_WARNING"] = "true"
                call_command("runserver", f"127.0.0.1:{port}", use_reloader=False, skip_checks=True)

    def _prepare(self, password: str) -> None:
        for alias in settings.DATABASES:
            call_command("migrate", database=alias, verbosity=0, skip_checks=False)  # call_command would skip
        call_command("collectstatic", interactive=False, verbosity=0)
        if not seeding.is_seeded():
            self.stdout.write("Creating demo data ...")
            seeding.seed(password)
        if settings.PUBLIC_DEMO:  # off with the .env that an earlier version wrote
            call_command("publish_telemetry", by="demo", stdout=StringIO())
        _refuse_keys_of_another_env()


@contextmanager
def _scan_worker() -> Iterator[None]:
    """Run the worker of scans until the block ends, also when this process gets SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "crawl"]
    with subprocess.Popen(command) as process:  # noqa: S603 - our own command
        try:
            yield
        finally:
            process.terminate()


@contextmanager
def checking_claims(pause: float = CLAIM_CHECK_SECONDS) -> Iterator[None]:
    """Check claims every ``pause`` seconds until the block ends, as cron does in production."""
    is_over = Event()

    def check() -> None:
        while not is_over.wait(pause):
            with suppress(CommandError, DatabaseError):  # the next round tries again
                call_command("check_claims", stdout=StringIO())
        connections.close_all()

    thread = Thread(target=check)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def wall_warning() -> str:
    """Return the warning about scanners that run without the wall; empty if they have it."""
    if settings.CRAWLER_WALL:
        return ""
    return (
        "Scanners of this demo can read its files and reach this machine: bubblewrap, which would prevent "
        f"it, does not work here ({wall.problem_here()})."
    )


def _demo_files() -> list[Path]:
    """Return the database files in use; raises CommandError if they are not the demo's."""
    demo = databases(DATABASE_URL, settings.BASE_DIR)
    names = {alias: database["NAME"] for alias, database in settings.DATABASES.items()}
    if names != {alias: database["NAME"] for alias, database in demo.items()} or settings.REDIS_URL:
        raise CommandError(
            "The demo changes only its own data, and these settings name other databases. "
            "Start it as 'manage.py demo', without --settings and DJANGO_SETTINGS_MODULE."
        )
    return [Path(name) for name in names.values()]


def _delete(files: Iterable[Path]) -> None:
    connections.close_all()
    for file in files:
        for suffix in ("", "-wal", "-shm"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)


def _refuse_keys_of_another_env() -> None:
    """Raise CommandError if the keys of this .env cannot open the stored secrets."""
    try:
        for account in PortalAccount.objects.all():
            account.reveal_secret()
    except CannotUnseal as error:
        raise CommandError(
            "The demo's data were created with the keys of another .env. "
            "Start again with 'manage.py demo --reset', or put that .env back."
        ) from error


def _introduction(port: int, password: str) -> str:
    address = f"http://127.0.0.1:{port}"
    manage = f"{_python()} manage.py"
    demo = read_accounts()
    people = "\n".join(f"    {person.username:<11}{person.what_they_see}" for person in demo.people)
    example = next(site for site in demo.sites if site.host == EXAMPLE)
    shop = Website.objects.select_related("account").get(host=EXAMPLE, account__ref=example.account)
    return f"""
  Portal   {address}/ (http://localhost:{port}/ to try passkeys)
  Admin    {address}/admin/
  API      {address}/v1/site/dashboard, described at {address}/v1/docs

  Sign in with the password {password} as
{people}

  Try it as a new customer: this demo serves a website to check, {website.NAME}.
    Create an account at {address}/sign-up/: the e-mail with the link is printed here.
    Add {website.NAME}, and save the content of its proof file as
      {_from_here(WEBSITE_FOLDER / FILE_PATH.removeprefix("/"))}
    Press "Check now": the first scan begins, and its findings appear within a minute.

  Call the API as a customer's backend does: the samples of the documentation, with a test secret
    export SITE_API_SECRET={_test_secret(shop.account.ref)}
    curl -s {address}/v1/samples/curl | sh
  and the demo's own website, with a live secret:
    export SITE_API_SECRET={shop.account.reveal_secret()}
    export PORTAL_ACCOUNT_REF={shop.account.ref} LINK_ID={shop.link_id}
    {manage} signed_request --host {EXAMPLE} --severity High          # --curl prints it as a shell script
  Import a scanner's report, and see it in the portal:
    {manage} import_report docs/samples/nuclei.jsonl --host launch.example.net
  Create e-mails about changes, before and after the import, and read them here:
    {manage} notify
"""


def _test_secret(account_ref: str) -> str:
    """Return the account's test secret, and issue it if it is missing."""
    account = Account.objects.get(ref=account_ref)
    issued = account.secrets.filter(is_test=True, state=Secret.State.ACTIVE).first()
    if issued:
        return issued.reveal()
    _, secret_text = Secret.objects.issue(account, by="demo", is_test=True)
    return secret_text


def _python() -> str:
    """Return the Python interpreter as a person would type it here."""
    executable = Path(sys.executable)
    return _from_here(executable) if executable.is_relative_to(Path.cwd()) else "python"


def _from_here(path: Path) -> str:
    """Return the path as a person would type it here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
