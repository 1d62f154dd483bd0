"""Hostile calls at the product in this process: ``signed`` bodies and ``garbage`` without a signature.

Signed: odd values in every field, odd fields, JSON that is broken or nested, each with a valid signature.
No response may be a 5xx or take 2 seconds, and no filter may show more than the website has, or a finding
that is not its own. Garbage: random bytes, methods, paths and headers. Each must be refused with a
documented status, and may store nothing. Controls: without filters everything is shown, and a correct call is
answered and stored.
"""

import io
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks import dataset
from tests.long.signed_calls import signed_call

SLOW = 2.0  # seconds
REFUSALS = {400, 401, 403, 404, 405, 411, 413, 415}
OF_ACCOUNT_ROUTES = ("/v1/account/calls", "/v1/site/claim", "/v1/site/claims", "/v1/site/claim/withdraw")
ROUTES = ("/v1/site/dashboard", "/v1/site/finding", "/v1/site/changes", *OF_ACCOUNT_ROUTES)
OF_ACCOUNT = ("portal_account_ref",)  # the fields of a call that is not about a website
FIELDS = ("severity", "source", "kind", "query", "page", "page_size", "status", "group_by", "problem", "sort",
          "since", "hosts", "finding_id", "min_severity", "until", "days", "host", "link_id",
          "portal_account_ref", "day", "outcome", "before", "claim_id", "method", "reason",
          "__proto__", "id", "account")  # fmt: skip
VALUES = (
    None, True, False, 0, 1, -1, 2, 99, 100, 101, 10**4, 10**19, 10**400, 1.0, 1e308, "", " ", "all", "open",
    "fixed", "Critical", "high,HIGH,high", "confirmed", "newest", "locations", "problem", "next_import", "0",
    "%", "_", "*", "' OR 1=1 --", '") OR 1', "a* OR b*", "NEAR(a b)", "col:x", '"', "\\", "%\0%", "\ud800",
    "\u202e", "\ufb03", "e\u0301" * 60, "x" * 200, "x" * 201, "a " * 100, "(" * 199, ":*|!&",
    "'; SELECT pg_sleep(9); --", "../../etc/passwd", "{{7*7}}", "${jndi:ldap://x}", "xn--",
    "a" * 64 + ".example", "shop.example.com.", "*.example.com", [], [[]], {}, {"a": 1}, ["High"], [None] * 9,
)  # fmt: skip
# Values that a field accepts, as hostile as they may be: most fields get one, so that calls get far.
_ACCEPTED = {
    "severity": ("High", "critical,LOW", "Info"),
    "source": (*(value for value in VALUES if isinstance(value, str) and "\0" not in value), "zap,nuclei"),
    "kind": ("confirmed", "suspected,informational"),
    "query": tuple(v for v in VALUES if isinstance(v, str) and "\0" not in v and len(v) < 201),
    "page": (1, 2, 100),
    "page_size": (1, 100),
    "status": ("all", "fixed", "open"),
    "group_by": ("problem",),
    "problem": ("0", "a-b-c"),
    "sort": ("newest", "oldest", "worst", "locations"),
    "since": (1, 366),
    "hosts": ("shop.example.com.", "*.example.com", "_dmarc.example.com"),
}
_PIECES = (
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b"\\u0000",
    b"\xff\xfe",
    b"NaN",
    b"1e999",
    b"\0",
    b"\xed\xa0\x80",
    b"{" * 40,
)
Environ = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response: its status, its body and its time."""

    status: int
    body: bytes
    seconds: float


class Product:
    """The product as a WSGI application in this process."""

    def __init__(self) -> None:
        from config.wsgi import application  # only after Django is set up

        self._application = application

    def answer(self, environ: Environ, body: bytes) -> Answer:
        """Return the response to a request."""
        seen: list[int] = []
        whole = {
            "REQUEST_METHOD": "POST", "SCRIPT_NAME": "", "QUERY_STRING": "", "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": "127.0.0.1", "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(body)),
            "wsgi.version": (1, 0), "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr, "wsgi.multithread": False, "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        } | environ  # fmt: skip
        began = time.perf_counter()
        response = self._application(whole, lambda status, _: seen.append(int(status[:3])))
        data = b"".join(response)
        if hasattr(response, "close"):
            response.close()
        return Answer(status=seen[0], body=data, seconds=time.perf_counter() - began)


def signed(_: object, body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong with the responses to ``rounds`` signed calls."""
    product = Product()
    seen: Counter[int] = Counter()
    everything = _signed(product, ROUTES[0], body | {"status": "all", "page_size": 100})
    own, largest = _own_findings(), json.loads(everything.body)["dashboard"]["total"]
    if everything.status != 200 or largest != len(own):
        yield f"the control, a call without filters, got {everything.status} with {largest} of {len(own)}"
    for number in range(rounds):
        route = random.choice((ROUTES[0], *ROUTES))
        sent = _odd({name: body[name] for name in OF_ACCOUNT} if route in OF_ACCOUNT_ROUTES else body)
        answer = _signed(product, route, sent)
        seen[answer.status] += 1
        if answer.status >= 500 or answer.seconds > SLOW or _widened(answer, own):
            yield f"case {number}: {answer.status} in {answer.seconds:.1f} s at {route}: {sent!r:.300}"
    print(f"{rounds} signed calls: {dict(sorted(seen.items()))}")


def garbage(_: object, body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong with the responses to ``rounds`` calls without a valid signature."""
    product = Product()
    from dashboard_api.models import Nonce  # only after Django is set up

    seen: Counter[int] = Counter()
    before = Nonce.objects.count()
    for number in range(rounds):
        environ, sent = _random_request(body)
        answer = product.answer(environ, sent)
        seen[answer.status] += 1
        if answer.status not in REFUSALS or answer.seconds > SLOW:
            yield f"case {number}: {answer.status} in {answer.seconds:.1f} s: {environ!r:.300} {sent!r:.200}"
    if stored := Nonce.objects.count() - before:
        yield f"{stored} rows were stored"
    if _signed(product, ROUTES[0], body).status != 200 or Nonce.objects.count() != before + 1:
        yield "the control, a correct call, was not answered or not stored"
    print(f"{rounds} calls without a signature: {dict(sorted(seen.items()))}, nothing stored")


def _signed(product: Product, path: str, body: dict[str, Any] | bytes) -> Answer:
    data, headers = signed_call(body, path=path)
    return product.answer({"PATH_INFO": path, **_in_environ(headers)}, data)


def _in_environ(headers: dict[str, str]) -> Environ:
    return {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}


def _odd(body: dict[str, Any]) -> dict[str, Any] | bytes:
    """Return a body with odd fields, or one in seven times its JSON with something put in or cut off."""
    names = random.sample((FIELDS, tuple(_ACCEPTED))[random.random() < 0.8], random.randrange(1, 5))
    fields = {name: random.choice(_values_for(name)) for name in names}
    if random.random() < 0.8:  # most of them stay calls about this website
        fields = {name: value for name, value in fields.items() if name not in body}
    odd = body | fields
    if random.random() > 1 / 7:
        return odd
    data = json.dumps(odd).encode()
    at = random.randrange(len(data))
    return data[:at] + random.choice(_PIECES) + data[at + random.randrange(3) :]


def _values_for(name: str) -> tuple[Any, ...]:
    return _ACCEPTED.get(name, VALUES) if random.random() < 0.8 else VALUES


def _widened(answer: Answer, own: set[str]) -> bool:
    """Return whether a response shows a finding that is not the website's own, or more than there are."""
    if answer.status != 200:
        return False
    content = json.loads(answer.body)
    shown = {threat["id"] for threat in content.get("threats", [])}
    return not shown <= own or (content.get("dashboard") or {}).get("total", 0) > len(own)


def _own_findings() -> set[str]:
    from dashboard_api.models import Finding  # only after Django is set up

    own = Finding.objects.filter(website__host=dataset.host(dataset.LARGEST))
    return {str(key) for key in own.values_list("pk", flat=True)}


def _random_request(body: dict[str, Any]) -> tuple[Environ, bytes]:
    """Return a request with a random part or two; a correct signature never belongs to it."""
    path = random.choice(ROUTES)
    data, headers = signed_call(body, path=path)
    environ: Environ = {"PATH_INFO": path, **_in_environ(headers)}
    name = random.choice([name for name in environ if name.startswith("HTTP_X_SERVICE")])
    environ[name] = _text() if random.random() < 0.7 else environ[name][:-1]
    match random.randrange(6):
        case 0:
            data = random.randbytes(random.randrange(9_000))
        case 1:
            environ["PATH_INFO"] = "/v1/" + _text()
        case 2:
            environ["REQUEST_METHOD"] = random.choice(
                ("GET", "PUT", "TRACE", "post", "PROPFIND", "OPTIONS", "\xe9")
            )
        case 3:
            environ["CONTENT_TYPE"] = _text()
        case 4:
            environ |= {"QUERY_STRING": _text(), "HTTP_CONTENT_ENCODING": _text()}
        case 5:
            environ["CONTENT_LENGTH"] = random.choice(("", "-1", "+5", "0x5", "9" * 30, "٣", _text()))
    return environ, data


def _text() -> str:
    return random.randbytes(random.randrange(1, 40)).decode("latin-1")
