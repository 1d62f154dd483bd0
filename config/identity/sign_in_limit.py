"""The limit of failed sign-ins from an address: of names, passwords and codes together.

It has an action of its own, because allauth clears its own limit after a right code or a new password, which
would let someone with an account guess the passwords of others.
"""

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal import ratelimit
from django.http import HttpRequest

from config.web.errors import longest_wait, too_many_requests


def count_attempt(request: HttpRequest) -> ratelimit.RateLimitUsage:
    """Count an attempt, which ``rollback`` of the result takes back; raises ImmediateHttpResponse (429)."""
    usage = ratelimit.consume(request, app="allauth.account", action="sign_in")
    if usage is None:
        raise ImmediateHttpResponse(too_many_requests(request, seconds=longest_wait("sign_in")))
    return usage
