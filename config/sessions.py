"""Sessions that know their person, so that people can see and end their own. Decision record 0064."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends import db
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

SIGNED_IN = "signed_in"  # in the session: the time and the browser of the sign-in
_BROWSERS = {
    "Edg/": "Edge", "OPR/": "Opera", "SamsungBrowser/": "Samsung Internet", "Firefox/": "Firefox",
    "FxiOS/": "Firefox", "CriOS/": "Chrome", "Chrome/": "Chrome", "Safari/": "Safari",
}  # fmt: skip
_SYSTEMS = {
    "Windows": "Windows", "iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "Mac OS X": "macOS",
    "CrOS": "ChromeOS", "Linux": "Linux",
}  # fmt: skip


class SessionStore(db.SessionStore):
    """Django's sessions in the database, with the person in a column of their own."""

    @classmethod
    def get_model_class(cls) -> Any:
        """Return the model of the rows."""
        from config.models import Session

        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        """Return the row for ``data``, with the id of the person who is signed in."""
        row: Any = super().create_model_instance(data)
        row.user_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        return row


@receiver(user_logged_in)
def note_sign_in(request: HttpRequest, **_: Any) -> None:
    """Store the time and the browser of a sign-in in its session; no address is stored."""
    browser = browser_name(request.headers.get("User-Agent", ""))
    request.session[SIGNED_IN] = {"at": timezone.now().isoformat(), "browser": browser}


def browser_name(user_agent: str) -> str:
    """Return text such as "Firefox, Linux" for the User-Agent header; empty for an unknown browser."""
    return ", ".join(name for name in (_first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent)) if name)


def _first(names: Mapping[str, str], text: str) -> str:
    return next((name for mark, name in names.items() if mark in text), "")
