"""The newest entries of the live feed for the start page, where the service runs in the same deployment."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

LENGTH = 5


def public_feed(_: HttpRequest) -> dict[str, object]:
    """Return the context of every template: the feed, which only the start page reads, without any query.

    Each process keeps the published document for a minute.
    """

    def read() -> object:
        from dashboard_api.api.public_views import shown_feed  # needs the models

        return shown_feed(LENGTH)

    return {"public_feed": SimpleLazyObject(read)}
