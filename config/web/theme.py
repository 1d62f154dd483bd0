"""The theme of the pages, light, dark or the system's, which a form stores in a cookie.

The server writes it into the page, so the first paint has its colours, also without JavaScript.
"""

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from config.web.choices import keep_choice
from portal.pages.urls import is_local_path

SYSTEM = "system"
THEMES = {
    SYSTEM: _("Theme: system"),
    "light": _("Theme: light"),
    "dark": _("Theme: dark"),
}


def current_theme(request: HttpRequest) -> str:
    """Return the name of the theme that the visitor chose."""
    theme = request.COOKIES.get(settings.THEME_COOKIE_NAME, "")
    return theme if theme in THEMES else SYSTEM


def theme(request: HttpRequest) -> dict[str, object]:
    """Give every template the visitor's theme and the choice of themes."""
    theme = current_theme(request)
    themes = [{"name": name, "label": label, "is_chosen": name == theme} for name, label in THEMES.items()]
    # A form with errors is shown at an address that may not accept GET.
    here = request.get_full_path() if request.method == "GET" else "/"
    return {"theme": theme, "themes": themes, "here": here}


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Store the choice, and redirect to the page of the form."""
    theme, back = request.POST.get("theme", ""), request.POST.get("next", "")
    if theme not in THEMES:
        raise BadRequest("There is no such theme.")
    response = HttpResponseRedirect(back if is_local_path(back) else "/")
    keep_choice(response, settings.THEME_COOKIE_NAME, "" if theme == SYSTEM else theme)
    return response
