"""The file security.txt (RFC 9116), which names the contact for security problems."""

from datetime import timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

_VALID_FOR = timedelta(days=90)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Return security.txt; 404 without a contact."""
    return contact_file(request)


def contact_file(request: HttpRequest, *lines: str) -> HttpResponse:
    """Return a file with SUPPORT_URL as its contact, and further lines; raises Http404 without a contact."""
    if not settings.SUPPORT_URL:
        raise Http404
    expires = (timezone.now() + _VALID_FOR).replace(hour=0, minute=0, second=0, microsecond=0)
    fields = (
        f"Canonical: {request.build_absolute_uri()}",
        f"Contact: {settings.SUPPORT_URL}",
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        "Preferred-Languages: en, de",
        *lines,
    )
    return HttpResponse("\r\n".join([*fields, ""]), content_type="text/plain; charset=utf-8")
