"""The limit of forms that a member sends: nearly each one is on record, for more than a year."""

from collections.abc import Callable

from allauth.core.internal import ratelimit
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from config.errors import is_api, too_many_requests

_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
# Not counted, or someone with a stolen session could use up the limit, so that its owner cannot end it.
_ENDS_SESSIONS = ("account_logout", "account_change_password", "end_other_sessions")


def limit_forms(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Return middleware that answers 429 to a member who has sent too many forms in an hour.

    Forms that are refused count: they are on record, too. Staff have no limit: they review hundreds of
    findings an hour.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        if request.method in _SAFE or is_api(request) or not _is_counted(request):
            return get_response(request)
        usage = ratelimit.consume(request, app="allauth.account", action="form")
        return get_response(request) if usage else too_many_requests(request)

    return respond


def _is_counted(request: HttpRequest) -> bool:
    is_member = request.user.is_authenticated and not request.user.is_staff
    return is_member and request.path not in map(reverse, _ENDS_SESSIONS)
