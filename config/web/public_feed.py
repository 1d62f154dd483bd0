"""The newest entries of the live feed, for the start page of a deployment that has the service."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

LENGTH = 5


def public_feed(_: HttpRequest) -> dict[str, object]:
    """Give every template the feed, which is read only if the template shows it.

    Each process keeps the published document for a minute, so most reads need no query.
    """

    def read() -> object:
        from dashboard_api.api.public_views import shown_feed  # needs the models

        return shown_feed(LENGTH)

    return {"public_feed": SimpleLazyObject(read)}
