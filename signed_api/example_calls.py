"""Example requests and responses of all routes; calls with a test secret get these responses."""

import functools
import json
from importlib.resources import files
from typing import Any

from signed_api.findings import DASHBOARD, FINDING
from signed_api.routes import Route

LINK = {
    "host": "shop.example.com",
    "link_id": "6f1c2f0a-4f0e-4a37-9a0e-0d9b6d1f5a11",
    "portal_account_ref": "acct_0001",
}


@functools.cache
def example_of(route: Route[Any, Any]) -> dict[str, Any]:
    """Return ``request`` and ``response`` of the route as JSON values; callers must not change them."""
    example: dict[str, Any] = json.loads(
        files("signed_api").joinpath(f"examples/{route.name}.json").read_bytes()
    )
    if route is FINDING:  # the first finding of the list, with its details
        finding = example_of(DASHBOARD)["response"]["threats"][0] | example["response"]["finding"]
        example["response"]["finding"] = finding
    return example
