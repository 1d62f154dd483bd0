"""Addresses to send a visitor back to, none of which leaves this site."""

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
    return path if is_path(path) else ""


def is_path(text: str) -> bool:
    """Whether ``text`` is an address of this site that begins with its path; names of views are none."""
    return text.startswith("/") and url_has_allowed_host_and_scheme(text, allowed_hosts=None)
