"""Sessions that know their person, so that people can see and end their own, and that end by themselves."""

import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from allauth.account.signals import password_changed, password_reset, password_set
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends import db
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _

from foundation.sealing import CannotUnseal, seal, unseal_once

SIGNED_IN = "signed_in"  # in the session: the time and the browser of the sign-in
_SEALED_FOR = "session"
_RESET_LINK = "_password_reset_key"  # allauth's, of a link to a new password that was opened
SIGN_IN_AGAIN = _("You were signed out to keep your account safe. Please sign in again.")
_BROWSERS = {
    "Edg/": "Edge", "OPR/": "Opera", "SamsungBrowser/": "Samsung Internet", "Firefox/": "Firefox",
    "FxiOS/": "Firefox", "CriOS/": "Chrome", "Chrome/": "Chrome", "Safari/": "Safari",
}  # fmt: skip
_SYSTEMS = {
    "Windows": "Windows", "iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "Mac OS X": "macOS",
    "CrOS": "ChromeOS", "Linux": "Linux",
}  # fmt: skip


class Limits(NamedTuple):
    """Limits of a session's time."""

    longest: timedelta  # since the sign-in
    idle: timedelta  # since the last page
    precision: timedelta  # of the time of the last page, so that not every page writes


MEMBERS = Limits(timedelta(days=14), timedelta(days=1), timedelta(hours=1))
WITHOUT_SIGN_IN = timedelta(days=1)  # such as for a passkey's challenge: strangers can make many
STAFF = Limits(timedelta(hours=12), timedelta(minutes=30), timedelta(minutes=1))


def stored_key(session_key: str) -> str:
    """Return the key under which a session is stored: a digest, so that a copied table opens no session."""
    return hashlib.sha256(session_key.encode()).hexdigest()[:40]


class SessionStore(db.SessionStore):
    """Django's sessions in the database, under a digest of their key, with the person and the last page.

    The contents are sealed like every stored secret: they hold tokens for a new password, secrets of an
    authenticator app, and the cookie of a session whose form waits for a proof of identity.
    """

    last_page_at: datetime | None = None

    @classmethod
    def get_model_class(cls) -> Any:
        """Return the model of the rows."""
        from config.models import Session

        return Session

    def load(self) -> dict[str, Any]:
        """Return the contents of the session; empty if there is none, or it has ended."""
        row = self._rows().filter(expire_date__gt=timezone.now()).first()
        if row is None:
            self._session_key = None
            return {}
        self.last_page_at = row.last_page_at
        contents: dict[str, Any] = self.decode(row.session_data)
        return contents

    def encode(self, session_dict: dict[str, Any]) -> str:
        """Return the contents to be stored, sealed."""
        return seal(super().encode(session_dict), _SEALED_FOR)

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Return the contents; empty if no master key opens them, so that people sign in again."""
        try:
            contents: dict[str, Any] = super().decode(unseal_once(str(session_data), _SEALED_FOR))
        except CannotUnseal:
            return {}
        return contents

    def exists(self, session_key: str | None = None) -> bool:
        """Return whether there is a session with this key."""
        return bool(self._rows(session_key).exists())

    def delete(self, session_key: str | None = None) -> None:
        """Delete the session with this key, or this one."""
        self._rows(session_key).delete()

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        """Return the row for ``data``, with the id of the person who is signed in."""
        row: Any = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        row.user_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        if row.user_id is None:
            row.expire_date = timezone.now() + WITHOUT_SIGN_IN
        row.last_page_at = timezone.now()
        return row

    def cycle_key(self) -> None:
        """Give the session a new key; a signed-in session that ended since it was read stays ended."""
        contents, key = self._session, self.session_key  # type: ignore[attr-defined]  # not in the stubs
        if key and not self._rows(key).delete()[0] and SESSION_KEY in contents:
            return
        self.create()
        self._session_cache = contents

    def note_page(self, now: datetime) -> None:
        """Store that the person opened a page now, without writing the contents."""
        self._rows().update(last_page_at=now)

    def _rows(self, session_key: str | None = None) -> Any:
        key = session_key or self.session_key
        return self.model.objects.filter(session_key=stored_key(key)) if key else self.model.objects.none()


def end_old_sessions(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Return middleware that signs a person out after too long a time, or too long without a page."""

    def respond(request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            limits, now = STAFF if request.user.is_staff else MEMBERS, timezone.now()
            session: SessionStore = request.session  # type: ignore[assignment]
            last_page_at = session.last_page_at or now
            if now - last_page_at > limits.idle or now - _signed_in_at(session, now) > limits.longest:
                logout(request)
                messages.info(request, SIGN_IN_AGAIN)
            elif now - last_page_at > limits.precision:
                session.note_page(now)
        return get_response(request)

    return respond


def _signed_in_at(session: SessionStore, now: datetime) -> datetime:
    return parse_datetime(session.get(SIGNED_IN, {}).get("at", "")) or now


@receiver(user_logged_in)
def note_sign_in(request: HttpRequest, **__: Any) -> None:
    """Store the time and the browser of a sign-in in its session; no address is stored.

    A link to a new password that was opened before it is forgotten.
    """
    browser = browser_name(request.headers.get("User-Agent", ""))
    request.session.pop(_RESET_LINK, None)  # a stolen session could set a password by it
    request.session[SIGNED_IN] = {"at": timezone.now().isoformat(), "browser": browser}


@receiver([authenticator_added, authenticator_removed, authenticator_reset])
@receiver([password_changed, password_reset, password_set])
def end_others(request: HttpRequest, user: Any, **__: Any) -> None:
    """End the other sessions of a person whose password or second factors change: they may be a thief's."""
    end_other_sessions(request, user.pk)


def end_other_sessions(request: HttpRequest, user_id: int) -> int:
    """End the other sessions of a person, and copies of this one's cookie; return how many others ended."""
    if request.user.pk == user_id:
        request.session.cycle_key()
        if not request.session.exists(request.session.session_key or ""):  # the form was sent twice
            return 0
    rows = SessionStore.get_model_class().objects.filter(user_id=user_id)
    ended: int = rows.exclude(session_key=stored_key(request.session.session_key or "")).delete()[0]
    return ended


def browser_name(user_agent: str) -> str:
    """Return text such as "Firefox, Linux" for the User-Agent header; empty for an unknown browser."""
    return ", ".join(name for name in (_first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent)) if name)


def _first(names: Mapping[str, str], text: str) -> str:
    return next((name for mark, name in names.items() if mark in text), "")
