"""How people get in: by accounts that operators make, never by signing up."""

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


class ClosedSignup(DefaultAccountAdapter):
    """Sign-up is closed; operators add members."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """No."""
        return False


def not_offered(_: HttpRequest) -> HttpResponse:
    """404 for pages of allauth that have no use here."""
    raise Http404


@require_safe
def reset_by_support(request: HttpRequest) -> HttpResponse:
    """Whom to ask for a new password where no mail can be sent."""
    return render(request, "account/reset_by_support.html", {"support_url": settings.SUPPORT_URL})
