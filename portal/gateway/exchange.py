"""One attempt: one signed request out, one response of limited size in."""

import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import requests
from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError

import es1
from foundation.deadline import ConnectFailed, Deadline, DeadlineAdapter, DeadlinePassed
from foundation.request_ids import HEADER, current_request_id
from portal.gateway.direct import DirectAdapter, WsgiApplication
from portal.gateway.errors import BadResponse, CannotConnect, TimedOut, Unreachable

MAX_RESPONSE_BYTES = 2 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024
_NONCE_BYTES = 24  # the reference client's figure (specification, section 5)
_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)
_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json",
    "accept-encoding": "identity",
    "user-agent": "threat-dashboard-portal",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and its response; header names are in lower case."""

    url: str
    sent_headers: Mapping[str, str] = field(repr=False)
    sent_body: bytes = field(repr=False)
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def retry_after(self) -> int | None:
        """Return the seconds of Retry-After; None if the header is absent or a date."""
        seconds = self.headers.get("retry-after", "")
        return int(seconds) if _SECONDS.fullmatch(seconds) else None


def attempt(
    url: str,
    body: bytes,
    *,
    secret: str,
    deadline: Deadline,
    ca_file: str = "",
    application: WsgiApplication | None = None,
) -> Exchange:
    """POST ``body`` to ``url`` with a new signature; raises Unreachable, TimedOut or BadResponse.

    ``ca_file`` has the authorities to trust, by default the public ones. ``application``, if set, gets the
    request instead of the network. The adapter is used without a requests.Session, so that nothing follows
    redirects, reads proxies or passwords from the environment, stores cookies, or retries.
    """
    with _gateway_errors(deadline):
        request = requests.Request("POST", url, headers=_HEADERS, data=body).prepare()
        request.headers.update(_request_id() | _signature(secret, url, body))
        with closing(DirectAdapter(application) if application else DeadlineAdapter(deadline)) as adapter:
            seconds = deadline.remaining()
            response = adapter.send(request, stream=True, timeout=seconds, verify=ca_file or True)
            with closing(response):
                response_body = _read(response)
    return Exchange(
        url=url,
        sent_headers=_lower_case(request.headers),
        sent_body=body,
        status=response.status_code,
        headers=_lower_case(response.headers),
        body=response_body,
    )


def _request_id() -> dict[str, str]:
    """Return the header that tells the service our request's id; nothing outside a request."""
    request_id = current_request_id()
    return {HEADER: request_id} if request_id else {}


def _signature(secret: str, url: str, body: bytes) -> dict[str, str]:
    """Return the three headers that sign ``body``, with a new timestamp and nonce."""
    path, nonce = urlsplit(url).path, secrets.token_urlsafe(_NONCE_BYTES)
    return es1.sign(secret, method="POST", path=path, body=body, now=int(time.time()), nonce=nonce)


@contextmanager
def _gateway_errors(deadline: Deadline) -> Iterator[None]:
    """Raise the gateway's errors for those of the connection."""
    try:
        yield
    except DeadlinePassed as error:
        raise TimedOut(str(error)) from error
    except ConnectFailed as error:
        raise CannotConnect(str(error)) from error
    except (RequestException, HTTPError, OSError) as error:
        if not deadline.allows(0):
            raise TimedOut("the deadline passed") from error
        raise Unreachable(f"the connection was lost: {type(error).__name__}") from error


def _read(response: requests.Response) -> bytes:
    """Return the body, of at most MAX_RESPONSE_BYTES; raises BadResponse."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise BadResponse("the response is encoded, although no encoding was accepted")
    body = bytearray()
    for chunk in response.raw.stream(_CHUNK_BYTES, decode_content=False):
        body += chunk
        if len(body) > MAX_RESPONSE_BYTES:
            raise BadResponse(f"the response has more than {MAX_RESPONSE_BYTES} bytes")
    return bytes(body)


def _lower_case(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
