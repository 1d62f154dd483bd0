"""The calls that the benchmarks send, as bodies for the server and as functions in this process."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from benchmarks.rows import ACCOUNT, host
from dashboard_api.api.authorization import authorize
from dashboard_api.contract import read_dashboard_request
from dashboard_api.models import SiteLink
from dashboard_api.queries.credentials import read_credentials
from dashboard_api.reading.dashboard import build_dashboard


def body_about(website: int, **fields: Any) -> dict[str, Any]:
    """Return the body of a call about a website, with further fields."""
    link = SiteLink.objects.get(account__ref=ACCOUNT, website__host=host(website))
    return {"host": host(website), "link_id": link.link_id, "portal_account_ref": ACCOUNT} | fields


def dashboard_call(website: int, **fields: Any) -> Callable[[], object]:
    """Return a function that reads credentials and dashboard as the API does."""
    request = read_dashboard_request(body_about(website, **fields))
    now = datetime.now(UTC)

    def call() -> object:
        credentials = read_credentials(ACCOUNT, request.link_id, now)
        return build_dashboard(authorize(credentials.link, request, now), request, now)

    return call
