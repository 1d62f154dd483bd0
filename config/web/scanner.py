"""The page about our scans, for owners of scanned websites and networks, and probing.txt (RFC 9511)."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from config.web.well_known import contact_file
from dashboard_api.crawler import policy
from foundation.outbound.fetch import USER_AGENT


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Show who scans, from where, how much, and how to be left out."""
    _check_is_on()
    address = settings.SCANNER_URL or request.build_absolute_uri(reverse("scanner"))
    context = {
        "user_agent": f"{USER_AGENT} (+{address}; job=1234)",
        "addresses": settings.CRAWLER_ADDRESSES,
        "contact": settings.SUPPORT_URL,
        "a_second": round(policy.CONNECTIONS_A_SECOND),
        "standard": policy.PROFILES[policy.Kind.STANDARD].requests,
        "deep": policy.PROFILES[policy.Kind.DEEP].requests,
    }
    return render(request, "scanner.html", context)


@require_safe
def probing_txt(request: HttpRequest) -> HttpResponse:
    """Return probing.txt; 404 without SUPPORT_URL, because the file must name a contact."""
    _check_is_on()
    about = settings.SCANNER_URL or request.build_absolute_uri(reverse("scanner"))
    purpose = f"Security scans of websites for accounts that proved that they are theirs: {about}"
    return contact_file(request, f"Description: {purpose}")


def _check_is_on() -> None:
    if not settings.CRAWLER_ENABLED:
        raise Http404
