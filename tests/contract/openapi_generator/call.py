"""Make signed calls with the client that openapi-generator made: base URL and fields are the arguments."""

import hashlib
import hmac
import json
import os
import secrets
import sys
import time
from urllib.parse import urlsplit

import openapi_client


def signing(request):
    """Return ``request`` of urllib3's pool, which signs the bytes that it sends."""

    def send(method, url, *, body, headers, **options):
        timestamp, nonce, path = str(int(time.time())), secrets.token_urlsafe(24), urlsplit(url).path
        lines = ["ES1", timestamp, nonce, method, path, hashlib.sha256(body.encode()).hexdigest()]
        signature = hmac.new(os.environ["SITE_API_SECRET"].encode(), "\n".join(lines).encode(), "sha256")
        headers = headers | {
            "x-service-timestamp": timestamp,
            "x-service-nonce": nonce,
            "x-service-signature": signature.hexdigest(),
        }
        return request(method, url, body=body.encode(), headers=headers, **options)

    return send


base_url, fields = sys.argv[1], json.loads(sys.argv[2])
with openapi_client.ApiClient(openapi_client.Configuration(host=base_url)) as client:
    client.rest_client.pool_manager.request = signing(client.rest_client.pool_manager.request)
    findings = openapi_client.CustomerThreatIntelligenceApi(client)
    print(findings.site_dashboard(openapi_client.DashboardRequest(**fields)).threats[0].title)
    scans = openapi_client.CrawlerOperationsApi(client)
    print(scans.site_scan_schedule(openapi_client.ScanScheduleRequest(**fields)).schedule.frequency)
    try:
        findings.site_dashboard(openapi_client.DashboardRequest(**fields | {"link_id": "unknown"}))
    except openapi_client.ApiException as refusal:
        print(refusal.data.error.code)
