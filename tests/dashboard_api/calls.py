"""Signed calls of the endpoint, in-process, as an integrator would make them."""

import io
import itertools
import json
import time

from django.utils import timezone

import es1
from dashboard_api.contract.requests import read_request
from dashboard_api.queries import credentials
from dashboard_api.reading.dashboard import build_dashboard
from signed_api.findings import DASHBOARD
from tests.factories import SECRET

PATH = "/v1/site/dashboard"
FINDING_PATH = "/v1/site/finding"
CHANGES_PATH = "/v1/site/changes"
COMPARE_PATH = "/v1/site/compare"
ANSWER_PATH = "/v1/site/answer"
ANSWERS_PATH = "/v1/site/answers"
MESSAGE_PATH = "/v1/site/message"
ANSWER_RULES_PATH = "/v1/account/answer-rules"
INVENTORY_PATH = "/v1/site/inventory"
SCRIPT_PATH = "/v1/site/script"
LAST_DAYS_PATH = "/v1/account/last-days"
CALLS_PATH = "/v1/account/calls"
CLAIM_PATH = "/v1/site/claim"
CLAIM_CHECK_PATH = "/v1/site/claim/check"
CLAIM_WITHDRAW_PATH = "/v1/site/claim/withdraw"
CLAIMS_PATH = "/v1/site/claims"
SCAN_PATH = "/v1/site/scan"
SCAN_STATUS_PATH = "/v1/site/scan/status"
SCAN_CANCEL_PATH = "/v1/site/scan/cancel"
SCAN_SCHEDULE_PATH = "/v1/site/scan/schedule"
SCANS_PATH = "/v1/site/scans"
_nonces = itertools.count(1)


def fields_for(link, **fields):
    return {
        "host": link.website.host,
        "link_id": link.link_id,
        "portal_account_ref": link.account.ref,
        **fields,
    }


def account_site(link):
    """Return the link as a signed call reads it."""
    return credentials.read_credentials(link.account.ref, link.link_id, timezone.now()).link


def answer(link, *, now=None, **filters):
    """Return the dashboard of the link as a signed call gets it, without its HTTP edge."""
    request = read_request(DASHBOARD, fields_for(link, **filters))
    return build_dashboard(account_site(link), request, now or timezone.now())


def compact(fields):
    return json.dumps(fields, separators=(",", ":")).encode()


def signed_headers(body, *, secret=SECRET, now=None, nonce=None, path=PATH):
    now = int(time.time()) if now is None else now
    nonce = nonce or f"test-nonce-{next(_nonces):08}"
    return es1.sign(secret, method="POST", path=path, body=body, now=now, nonce=nonce)


def post(client, body, headers, *, path=PATH, content_type="application/json", **environ):
    """Post exactly ``body``; Django's client alone would leave the length of an empty one out."""
    environ = {
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
    } | environ
    return client.generic("POST", path, headers=headers, **environ)


def ask(client, fields, *, path=PATH, **signing):
    """Sign ``fields`` and post them."""
    body = fields if isinstance(fields, bytes) else compact(fields)
    return post(client, body, signed_headers(body, path=path, **signing), path=path)


def error_of(response):
    return response.json()["error"]
