"""Call the service over HTTP as a customer's backend would, and show request and response."""

import json
import shlex
from typing import Any

import msgspec
from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from foundation.operations.operator_command import OperatorCommand, Result, host_of
from portal.answers.service import signer_of_website
from portal.gateway.client import send
from portal.gateway.errors import Misconfigured
from portal.gateway.target import MAX_TIMEOUT_SECONDS, Service
from portal.management.lookup import find_account
from portal.models import Account, Website
from signed_api.client import encode
from signed_api.errors import CallError
from signed_api.findings import DASHBOARD, FINDING, DashboardRequest, FindingRequest
from signed_api.routes import Route
from signed_api.transport import Exchange

FILTERS = ("severity", "source", "kind", "query", "status", "group_by", "problem", "sort", "hosts")
SHOWN_HEADERS = (
    "date",
    "content-type",
    "cache-control",
    "x-request-id",
    "www-authenticate",
    "retry-after",
    "location",
)

# 54 and 92 are the two pads of HMAC (RFC 2104), 0x36 and 0x5c.
_SCRIPT = r"""# Reads the account's secret from SITE_API_SECRET; each run signs a new call.
# HMAC from two digests, for a secret of at most 64 bytes: "openssl dgst -hmac" would have the secret in its
# arguments, which all users of the machine can see. pad prints the secret, each byte exclusive-or a number.
pad() {{
  for byte in $({{ printf %s "$SITE_API_SECRET"; head -c 64 /dev/zero; }} | head -c 64 | od -An -v -tu1); do
    printf "\\$(printf %o $((byte ^ $1)))"
  done
}}
body={body}
timestamp=$(date +%s)
nonce=$(openssl rand -hex 24)
digest=$(printf %s "$body" | openssl dgst -sha256 -r | cut -d' ' -f1)
canonical=$(printf 'ES1\n%s\n%s\nPOST\n{path}\n%s' "$timestamp" "$nonce" "$digest")
signature=$({{ pad 92; {{ pad 54; printf %s "$canonical"; }} | openssl dgst -sha256 -binary; }} |
  openssl dgst -sha256 -r | cut -d' ' -f1)
curl --max-time 45 {url} -H 'content-type: application/json' \
  -H "x-service-timestamp: $timestamp" -H "x-service-nonce: $nonce" \
  -H "x-service-signature: $signature" --data-binary "$body"
"""


class Command(OperatorCommand):
    """manage.py signed_request --host shop.example.com --severity High."""

    help = (
        "Sign a request for the dashboard or one finding, send it, and print request and response; the exit "
        "code is 1 unless the status is 200. Link id and secret come from the portal's tables; with "
        "--link-id, PORTAL_ACCOUNT_REF and SITE_API_SECRET of the environment work, too."
    )
    no_event_because = "it only reads"  # why no audit event
    audit_options = None  # no options --by and --reason

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", required=True, help="the website, such as shop.example.com")
        parser.add_argument("--account", metavar="REF", help="the account, if several have the host")
        parser.add_argument("--link-id", metavar="ID", help="sent instead of the stored one")
        for name in FILTERS:
            parser.add_argument(f"--{name.replace('_', '-')}", default="", help="sent unchanged")
        parser.add_argument("--finding", metavar="ID", help="request this finding instead of the dashboard")
        parser.add_argument("--since", type=int, metavar="DAYS", help="only findings of the last days")
        parser.add_argument("--page", type=int, default=1)
        parser.add_argument("--page-size", type=int, default=20)
        parser.add_argument(
            "--base-url", metavar="URL", help="instead of DASHBOARD_BASE_URL or PORTAL_BASE_URL"
        )
        parser.add_argument(
            "--curl", action="store_true", help="print a shell script that makes this call, and send nothing"
        )
        parser.add_argument("--timeout", type=float, default=MAX_TIMEOUT_SECONDS, metavar="SECONDS")

    def perform(self, *, host: str, account: str | None, link_id: str | None, **options: Any) -> Result:
        """Send one request and return the exchange, whatever the status."""
        website = _website(host_of(host), account, link_id)
        route, request = _request(**options)
        base_url = options["base_url"] or settings.DASHBOARD_BASE_URL or settings.PORTAL_BASE_URL
        if not base_url:
            raise CommandError(
                "The address of the service is not set. Add --base-url, such as "
                "--base-url http://127.0.0.1:8000."
            )
        if options["curl"]:
            script = _script(base_url, website, route, request)
            return Result(text=script, json_output={"script": script})
        try:
            service = Service(
                base_url=base_url,
                timeout_seconds=options["timeout"],
                ca_file=settings.DASHBOARD_CA_FILE,
            )
            exchange = send(service, signer_of_website(website), route, request)
        except Misconfigured as error:
            raise CommandError(str(error)) from error
        except CallError as error:
            raise CommandError(
                f"No response from {base_url}: {error}. Is the service running? "
                "Check DASHBOARD_BASE_URL or --base-url."
            ) from error
        failure = "" if exchange.status == 200 else f"The service answered {exchange.status}."
        return Result(text=_in_words(exchange), json_output=_as_json(exchange), failure=failure)


def _script(base_url: str, website: Website, route: Route[Any, Any], request: msgspec.Struct) -> str:
    """Return the shell script of /v1/docs for this call; it holds no secret."""
    fields = {"host": website.host, "link_id": website.link_id, "portal_account_ref": website.account.ref}
    body = shlex.quote(encode(request, **fields).decode())
    return _SCRIPT.format(body=body, path=route.path, url=shlex.quote(base_url + route.path))


def _request(*, finding: str | None, **options: Any) -> tuple[Route[Any, Any], msgspec.Struct]:
    if finding is not None:
        return FINDING, FindingRequest(finding_id=finding)
    return DASHBOARD, DashboardRequest(
        **{name: options[name] for name in (*FILTERS, "since", "page", "page_size")}
    )


def _website(host: str, ref: str | None, link_id: str | None) -> Website:
    """Return the portal's website with this host, or an unsaved one with ``link_id``; raises CommandError."""
    if link_id is not None:
        return Website(account=_account(ref), host=host, link_id=link_id)
    same_host = Website.objects.with_host(host).select_related("account")
    websites = [website for website in same_host if ref in (None, website.account.ref)]
    if not websites:
        raise CommandError(
            f"The portal has no website {host}{f' of {ref}' if ref else ''}: "
            "add it in the admin, or add --link-id."
        )
    if len(websites) > 1:
        refs = ", ".join(website.account.ref for website in websites)
        raise CommandError(f"Several accounts have {host}: add --account, one of {refs}.")
    return websites[0]


def _account(ref: str | None) -> Account:
    ref = ref or settings.PORTAL_ACCOUNT_REF
    if not ref:
        raise CommandError(
            "The link id needs an account. Add --account REF, or set PORTAL_ACCOUNT_REF and SITE_API_SECRET."
        )
    account = Account(ref=ref)
    return account if account.is_from_environment else find_account(ref)


def _as_json(exchange: Exchange) -> dict[str, Any]:
    return {
        "request": {
            "method": "POST",
            "url": exchange.url,
            "headers": dict(exchange.sent_headers),
            "body": exchange.sent_body.decode(),
        },
        "response": {
            "status": exchange.status,
            "headers": _shown_headers(exchange),
            "body": _decoded(exchange.body),
        },
    }


def _in_words(exchange: Exchange) -> str:
    body = _decoded(exchange.body)
    lines = [
        f"POST {exchange.url}",
        *(f"{name}: {value}" for name, value in exchange.sent_headers.items()),
        "",
        exchange.sent_body.decode(),
        "",
        f"{exchange.status}",
        *(f"{name}: {value}" for name, value in _shown_headers(exchange).items()),
        "",
        body if isinstance(body, str) else json.dumps(body, indent=2, ensure_ascii=False),
    ]
    text = "\n".join(lines)
    # Escape unprintable characters, so that the response cannot control the terminal.
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def _shown_headers(exchange: Exchange) -> dict[str, str]:
    return {name: exchange.headers[name] for name in SHOWN_HEADERS if name in exchange.headers}


def _decoded(body: bytes) -> Any:
    """Return the value of a JSON body, else the text."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode(errors="replace")
