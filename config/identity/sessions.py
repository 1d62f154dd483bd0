"""Sessions that store their person, so that people can see and end their own, and that expire."""

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
_RESET_LINK = "_password_reset_key"  # allauth's key for an opened reset link
SIGN_IN_AGAIN = _("You were signed out to keep your account safe. Please sign in again.")
# By a mark in the User-Agent header; the first that is found counts, because most name several browsers.
_BROWSERS = {
    "Edg/": "Edge", "OPR/": "Opera", "SamsungBrowser/": "Samsung Internet", "Firefox/": "Firefox",
    "FxiOS/": "Firefox", "CriOS/": "Chrome", "Chrome/": "Chrome", "Safari/": "Safari",
}  # fmt: skip
_SYSTEMS = {
    "Windows": "Windows", "iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "Mac OS X": "macOS",
    "CrOS": "ChromeOS", "Linux": "Linux",
}  # fmt: skip


class Limits(NamedTuple):
    """Time limits of a session."""

    longest: timedelta  # since the sign-in
    idle: timedelta  # since the last page
    precision: timedelta  # how often the time of the last page is stored: not for every page


MEMBERS = Limits(timedelta(days=14), timedelta(days=1), timedelta(hours=1))
WITHOUT_SIGN_IN = timedelta(days=1)  # short, because strangers can make many, such as for challenges
STAFF = Limits(timedelta(hours=12), timedelta(minutes=30), timedelta(minutes=1))


def stored_key(session_key: str) -> str:
    """Return the digest under which a session is stored, so that a copied table opens no session."""
    return hashlib.sha256(session_key.encode()).hexdigest()[:40]


class SessionStore(db.SessionStore):
    """Django's sessions in the database, under a digest of their key, with the person and the last page.

    The contents are sealed: they include reset tokens, secrets of authenticator apps, and the cookies of a
    form that waits for a proof of identity.
    """

    last_page_at: datetime | None = None

    @classmethod
    def get_model_class(cls) -> Any:
        """Return the model of the rows."""
        from config.models import Session

        return Session

    def load(self) -> dict[str, Any]:
        """Return the contents of the session; empty if it does not exist or has ended."""
        row = self._rows().filter(expire_date__gt=timezone.now()).first()
        if row is None:
            self._session_key = None
            return {}
        self.last_page_at = row.last_page_at
        contents: dict[str, Any] = self.decode(row.session_data)
        return contents

    def encode(self, session_dict: dict[str, Any]) -> str:
        """Return the sealed contents."""
        return seal(super().encode(session_dict), _SEALED_FOR)

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Return the contents; empty if no master key opens them: the person then signs in again."""
        try:
            contents: dict[str, Any] = super().decode(unseal_once(str(session_data), _SEALED_FOR))
        except CannotUnseal:
            return {}
        return contents

    def exists(self, session_key: str | None = None) -> bool:
        """Return whether a session with this key is stored."""
        return bool(self._rows(session_key).exists())

    def delete(self, session_key: str | None = None) -> None:
        """Delete the session with this key, or this one."""
        self._rows(session_key).delete()

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        """Return the row for ``data``, with the id of the signed-in person."""
        row: Any = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        row.user_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        if row.user_id is None:
            row.expire_date = timezone.now() + WITHOUT_SIGN_IN
        row.last_page_at = timezone.now()
        return row

    def cycle_key(self) -> None:
        """Give the session a new key, unless a signed-in session was ended since it was read."""
        contents, key = self._session, self.session_key  # type: ignore[attr-defined]  # not in the stubs
        was_ended = bool(key) and not self._rows(key).delete()[0]
        if was_ended and SESSION_KEY in contents:
            return
        self.create()
        self._session_cache = contents

    def note_page(self, now: datetime) -> None:
        """Store the time of the last page, without writing the contents."""
        self._rows().update(last_page_at=now)

    def _rows(self, session_key: str | None = None) -> Any:
        key = session_key or self.session_key
        return self.model.objects.filter(session_key=stored_key(key)) if key else self.model.objects.none()


def end_old_sessions(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Return middleware that ends sessions that are too old, or idle for too long."""

    def respond(request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            limits, now = STAFF if request.user.is_staff else MEMBERS, timezone.now()
            session: SessionStore = request.session  # type: ignore[assignment]
            last_page_at = session.last_page_at or now
            signed_in_at = parse_datetime(session.get(SIGNED_IN, {}).get("at", "")) or now
            if now - last_page_at > limits.idle or now - signed_in_at > limits.longest:
                logout(request)
                messages.info(request, SIGN_IN_AGAIN)
            elif now - last_page_at > limits.precision:
                session.note_page(now)
        return get_response(request)

    return respond


@receiver(user_logged_in)
def note_sign_in(request: HttpRequest, **__: Any) -> None:
    """Store the time and the browser of a sign-in in its session, but no IP address.

    Forget a reset link that was opened before: a stolen session could set a password with it.
    """
    browser = browser_name(request.headers.get("User-Agent", ""))
    request.session.pop(_RESET_LINK, None)
    request.session[SIGNED_IN] = {"at": timezone.now().isoformat(), "browser": browser}


@receiver([authenticator_added, authenticator_removed, authenticator_reset])
@receiver([password_changed, password_reset, password_set])
def end_others(request: HttpRequest, user: Any, **__: Any) -> None:
    """End the other sessions, which may be a thief's, after a change of password or second factor."""
    end_other_sessions(request, user.pk)


def end_other_sessions(request: HttpRequest, user_id: int) -> int:
    """End the person's other sessions, and copies of this one's cookie; return the number of others ended."""
    if request.user.pk == user_id:
        request.session.cycle_key()
        if not request.session.exists(request.session.session_key or ""):  # the form was sent twice
            return 0
    rows = SessionStore.get_model_class().objects.filter(user_id=user_id)
    count, _each = rows.exclude(session_key=stored_key(request.session.session_key or "")).delete()
    return int(count)


def browser_name(user_agent: str) -> str:
    """Return a name such as "Firefox, Linux" for the User-Agent header; empty for an unknown browser."""
    return ", ".join(
        name for name in (_name_in(_BROWSERS, user_agent), _name_in(_SYSTEMS, user_agent)) if name
    )


def _name_in(names_by_mark: Mapping[str, str], text: str) -> str:
    return next((name for mark, name in names_by_mark.items() if mark in text), "")
