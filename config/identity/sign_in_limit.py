"""The limit of failed sign-ins from an address, which counts names, passwords and codes together.

It has its own action: allauth clears its limit after a right code or a new password, so someone with an
account could guess the passwords of others without end.
"""

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal import ratelimit
from django.http import HttpRequest

from config.web.errors import longest_wait, too_many_requests


def count_attempt(request: HttpRequest) -> ratelimit.RateLimitUsage:
    """Count an attempt; ``rollback()`` of the result undoes it. Raises ImmediateHttpResponse (429)."""
    usage = ratelimit.consume(request, app="allauth.account", action="sign_in")
    if usage is None:
        raise ImmediateHttpResponse(too_many_requests(request, seconds=longest_wait("sign_in")))
    return usage
