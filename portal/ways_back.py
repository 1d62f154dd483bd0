"""The page from which a form was sent: where to go when the form could not be accepted."""

from urllib.parse import urlsplit

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def page_of_form(request: HttpRequest) -> str:
    """Path and query of this site's page that sent the form; empty where the browser does not name it."""
    page = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, allowed_hosts={request.get_host()}):
        return ""
    parts = urlsplit(page)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return path if url_has_allowed_host_and_scheme(path, allowed_hosts=None) else ""
