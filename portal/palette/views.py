"""Fragments that the palette's script loads on demand; pages never wait for them."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.pages.access import members_only
from portal.pages.forms import SiteFilters
from portal.palette.view_models import find_hits


@require_safe
@members_only
def dialogs(request: HttpRequest) -> HttpResponse:
    """Return both dialogs: the palette with its first hits, and the list of keys."""
    return render(request, "portal/palette/dialogs.html", {"hits": find_hits(request, "")})


@require_safe
@members_only
def hits(request: HttpRequest) -> HttpResponse:
    """Return the hits for the text that the member typed."""
    query = SiteFilters.from_query(request.GET).query
    return render(request, "portal/palette/_hits.html", {"hits": find_hits(request, query)})
