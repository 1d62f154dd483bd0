"""Write the status page as plain files, to be served where an outage of ours does not reach."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management.base import CommandError, CommandParser
from django.template.loader import render_to_string
from django.utils import timezone, translation

from config.doctor import calls_refused_until
from config.models import Incident
from config.status import Works, feed_of, measured, status_page
from foundation.operator_command import OperatorCommand, Result

_SECONDS = 10
_FEED = "feed.xml"
_STATIC = ("portal.css", "icon.svg")


class Command(OperatorCommand):
    """manage.py publish_status /srv/status."""

    interval = timedelta(minutes=15)

    help = (
        "Write the status page into DIR as plain files: a page in each language, the feed, and their style. "
        "Serve them from another machine, because a page of ours is down when we are. It asks "
        "PORTAL_BASE_URL first: without an answer, signed calls and the portal are shown as disturbed. Run "
        "it every few minutes."
    )
    without_event = "it only writes files"
    on_record = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path)

    def perform(self, *, folder: Path, **options: Any) -> Result:
        """Write each file as a whole, the pages last."""
        refused_until = calls_refused_until(now := timezone.now())
        works = measured(now, refused_until)
        failure = _failure(f"{settings.PORTAL_BASE_URL}/status/") if settings.PORTAL_BASE_URL else ""
        if failure:
            disturbed = {Incident.Component.CALLS, Incident.Component.PORTAL} & works.keys()
            works |= dict.fromkeys(disturbed, False)
        try:
            for name, content in _files(works, refused_until):
                unfinished = folder / f".{name}.tmp"
                unfinished.unlink(missing_ok=True)  # a link would lead to another file
                with unfinished.open("xb") as file:
                    file.write(content)
                unfinished.replace(folder / name)
        except OSError as error:
            raise CommandError(f"{folder} cannot be written: {error.strerror}.") from error
        down = [str(component) for component, is_up in works.items() if not is_up]
        state = f"Disrupted or late: {', '.join(down)}." if down else "Each component works."
        text = f"Written to {folder}. {state}{failure and ' '}{failure}"
        return Result(text=text, fields={"folder": str(folder), "disturbed": down})


def _failure(address: str) -> str:
    """Return why our own pages are not served at their public address; empty: they are."""
    try:
        with urlopen(address, timeout=_SECONDS) as response:  # noqa: S310  # checked at the start
            status = response.status
    except HTTPError as error:
        status = error.code
    except (OSError, ValueError) as error:
        return f"{address} did not answer this machine: {getattr(error, 'reason', error)}."
    return f"{address} answered {status}." if status >= HTTPStatus.INTERNAL_SERVER_ERROR else ""


def _files(works: Works, refused_until: datetime | None) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file."""
    for name in _STATIC:
        yield name, Path(finders.find(f"portal/{name}") or "").read_bytes()
    url = settings.STATUS_URL or f"{settings.PORTAL_BASE_URL}/status/"
    yield _FEED, feed_of(url, f"{url.rstrip('/')}/{_FEED}").encode()
    languages = [
        (code, "index.html" if code == settings.LANGUAGE_CODE else f"{code}.html", name)
        for code, name in settings.LANGUAGES
    ]
    for code, file, _name in languages:
        with translation.override(code):
            context = {"status": status_page(works, refused_until), "feed_url": _FEED, "languages": languages}
            yield file, render_to_string("status/published.html", context).encode()
