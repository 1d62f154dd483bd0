"""All signed routes, as a list and by path."""

from typing import Any

from signed_api import account, answering, billing, claims, compare, findings, inventory, scans
from signed_api.routes import Route

ROUTES: tuple[Route[Any, Any], ...] = (
    *findings.ROUTES,
    *account.ROUTES,
    *billing.ROUTES,
    *claims.ROUTES,
    *scans.ROUTES,
    *compare.ROUTES,
    *answering.ROUTES,
    *inventory.ROUTES,
)
BY_PATH = {route.path: route for route in ROUTES}
