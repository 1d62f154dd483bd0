"""An example request and response of each route, which calls with a test secret get."""

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
    """Return an object with ``request`` and ``response``, both as JSON values; do not change it."""
    example: dict[str, Any] = json.loads(
        files("signed_api").joinpath(f"examples/{route.name}.json").read_bytes()
    )
    if route is FINDING:  # the first finding of the list, with its details
        finding = example_of(DASHBOARD)["response"]["threats"][0] | example["response"]["finding"]
        example["response"]["finding"] = finding
    return example
