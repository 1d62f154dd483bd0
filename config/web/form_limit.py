"""Limits on the forms that a member sends: nearly each form adds a record that is kept over a year.

Forms that ask for a password or a code have a lower limit, so that a thief with a session cannot guess it.
"""

from collections.abc import Callable
from typing import Any

from allauth.core.internal import ratelimit
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from config.web.errors import is_api, longest_wait, too_many_requests, unavailable
from foundation.operations.places import NoPlace, SlowCallers

_SAFE = ("GET", "HEAD", "OPTIONS")
# Not counted: a thief could otherwise use up the limit, so that the owner cannot end the stolen session.
_ENDS_SESSIONS = ("account_logout", "account_change_password", "end_other_sessions")
PROOFS = ("account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn")
_LIMIT_OF_FORM = {  # limits of forms that ask for a password or a code
    **dict.fromkeys(PROOFS, "proof"),
    "account_change_password": "own_password",
}
_slow_senders = SlowCallers(2)  # of the four threads of a process


class FormLimit:
    """Middleware that answers 429 after too many forms in an hour, and 503 to many slow ones at a time.

    A form counts for its session, so that a stolen session does not use up the others' limit, and for the
    person. Forms without a CSRF token do not count, because other websites can send them. For staff, who
    review hundreds of findings an hour, only forms with a password or a code count.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the form in one of the person's places; return 503 if all are taken."""
        if not _is_counted(request):
            return self.get_response(request)
        try:
            with _slow_senders.place(request.user.pk or 0):
                return self.get_response(request)
        except NoPlace:
            return unavailable(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """Count the form after the CSRF check; return 429 beyond a limit."""
        limits = ["form"] if _is_counted(request) else []
        if limit := _limit_of_guesses(request):
            limits.append(limit)
        refused = next((limit for limit in limits if not _count(request, limit)), None)
        return too_many_requests(request, seconds=longest_wait(refused)) if refused else None


def _limit_of_guesses(request: HttpRequest) -> str | None:
    match = request.resolver_match
    is_sent = request.method == "POST" and request.user.is_authenticated
    return _LIMIT_OF_FORM.get(match.url_name or "") if is_sent and match else None


def _count(request: HttpRequest, limit: str) -> bool:
    """Count the form by session and by person, at the rates of settings; return whether both allow it."""
    key = request.session.session_key
    return ratelimit.consume(request, app="allauth.account", action=limit, key=key) is not None


def _is_counted(request: HttpRequest) -> bool:
    if request.method in _SAFE or is_api(request):
        return False
    is_member = request.user.is_authenticated and not request.user.is_staff
    return is_member and request.path not in map(reverse, _ENDS_SESSIONS)
