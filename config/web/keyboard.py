"""The cookie that switches off single keys, such as j, k and /, in this browser.

Speech input and screen readers may press keys that the person did not type (WCAG 2.1.4).
"""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from config.web.choices import keep_choice

OFF = "off"


def keyboard(request: HttpRequest) -> dict[str, object]:
    """Tell every template whether single keys work."""
    return {"has_single_keys": request.COOKIES.get(settings.KEYS_COOKIE_NAME) != OFF}


@require_POST
@login_required
def switch_keys(request: HttpRequest) -> HttpResponse:
    """Switch single keys off, or on again."""
    response = redirect("account")
    keep_choice(response, settings.KEYS_COOKIE_NAME, OFF if request.POST.get("keys") == OFF else "")
    return response
