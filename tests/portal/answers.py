"""Responses of the service to the portal's calls, without a service."""

from portal import service
from signed_api.claims import CLAIM, CLAIM_CHECK, CLAIM_WITHDRAW, ClaimResponse


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
