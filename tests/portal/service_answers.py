"""Responses of the service to the portal's calls, without a service."""

from portal.answers import service
from signed_api.account import CALLS
from signed_api.claims import (
    CLAIM,
    CLAIM_CHECK,
    CLAIM_WITHDRAW,
    CLAIMS,
    ClaimResponse,
    ClaimsResponse,
)
from signed_api.findings import CHANGES, DASHBOARD, FINDING
from signed_api.inventory import INVENTORY, LAST_DAYS
from tests.portal.dashboards import (
    make_calls,
    make_changes,
    make_claim,
    make_dashboard,
    make_finding_response,
)
from tests.portal.inventory.inventories import (
    make_certificate,
    make_inventory,
    make_last_day,
    make_last_days,
)
from tests.structs import build


def answer_with(monkeypatch, route, respond):
    """Let calls of ``route`` get what ``respond`` returns for the service, the account and the request."""
    others = service.call

    def call(at, account, asked, request):
        return respond(at, account, request) if asked is route else others(at, account, asked, request)

    monkeypatch.setattr(service, "call", call)


def answer_claims(monkeypatch, respond):
    """Let calls that act on a claim get the claim that ``respond`` returns."""
    for route in (CLAIM, CLAIM_CHECK, CLAIM_WITHDRAW):
        answer_with(monkeypatch, route, lambda *asked: ClaimResponse(ok=True, claim=respond(*asked)))


def answer_pages(monkeypatch):
    """Let the calls that pages make most get the usual responses."""
    answer_with(monkeypatch, DASHBOARD, lambda *_: make_dashboard())
    answer_with(monkeypatch, FINDING, lambda *_: make_finding_response())
    answer_with(monkeypatch, CHANGES, lambda *_: make_changes())
    answer_with(monkeypatch, INVENTORY, lambda *_: make_inventory(certificates=[make_certificate()]))
    answer_with(monkeypatch, LAST_DAYS, lambda *_: make_last_days(make_last_day()))
    answer_with(monkeypatch, CALLS, lambda *_: make_calls())
    answer_with(
        monkeypatch, CLAIMS, lambda *_: build(ClaimsResponse, ok=True, claims=[make_claim()], total=1)
    )
    answer_claims(monkeypatch, lambda *_: make_claim())
