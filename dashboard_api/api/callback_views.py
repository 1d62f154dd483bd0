"""The endpoint for payment callbacks: verifies, stores and applies each event."""

import json
import re

from django.http import HttpRequest
from django.utils import timezone

from dashboard_api import errors, limits
from dashboard_api.api.request import Reply, check_https, json_endpoint, read_body
from dashboard_api.billing.callbacks import applying, providers
from dashboard_api.billing.snapshots import Refused
from foundation.operations.metrics import count_callback

_JSON = re.compile(r"application/json\s*(;.*)?", re.ASCII | re.IGNORECASE)


@json_endpoint
def receive_callback(request: HttpRequest, provider: str) -> Reply:
    """``POST /v1/callbacks/<provider>``: store an event; status 200 promises that it will not be lost."""
    check_https(request)
    adapter = providers.adapter_of(provider)
    if adapter is None:
        raise errors.NotFound
    if request.META["REQUEST_METHOD"] != "POST":
        raise errors.MethodNotAllowed
    if not _JSON.fullmatch(request.META.get("CONTENT_TYPE", "")):
        raise errors.UnsupportedMediaType
    body = read_body(request, limits.MAX_CALLBACK_BYTES, errors.CallbackTooLarge)
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        event_id = providers.verify(provider, adapter, headers, body, timezone.now())
    except Refused as error:
        count_callback(provider, "refused")
        raise errors.CallbackRefused from error
    event_state = applying.receive(provider, event_id, body, timezone.now())
    return Reply(json.dumps({"ok": True, "state": event_state}, separators=(",", ":")).encode(), 200, {})
