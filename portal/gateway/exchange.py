"""One attempt: one signed request out, one bounded answer in."""

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

import requests
from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError

from foundation.deadline import ConnectFailed, Deadline, DeadlineAdapter, DeadlinePassed
from portal.gateway.auth import ES1Auth
from portal.gateway.direct import DirectAdapter, WsgiApplication
from portal.gateway.errors import BadAnswer, CannotConnect, TimedOut, Unreachable

MAX_ANSWER_BYTES = 2 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024
_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)
_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json",
    "accept-encoding": "identity",
    "user-agent": "threat-dashboard-portal",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What was sent and what came back; header names are in lower case."""

    url: str
    sent_headers: Mapping[str, str] = field(repr=False)
    sent_body: bytes = field(repr=False)
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def retry_after(self) -> int | None:
        """The seconds that Retry-After asks for; None when it is absent or a date."""
        seconds = self.headers.get("retry-after", "")
        return int(seconds) if _SECONDS.fullmatch(seconds) else None


def attempt(
    url: str, body: bytes, *, secret: str, deadline: Deadline, application: WsgiApplication | None = None
) -> Exchange:
    """POST ``body`` to ``url``, freshly signed; raises Unreachable, TimedOut or BadAnswer.

    With ``application`` the request is handed to it instead of being sent. The adapter is used without a
    requests.Session, so that nothing follows a redirect, reads proxies or passwords from the environment,
    keeps cookies, or sends again by itself.
    """
    with _gateway_errors(deadline):
        request = requests.Request("POST", url, headers=_HEADERS, data=body, auth=ES1Auth(secret)).prepare()
        with closing(DirectAdapter(application) if application else DeadlineAdapter(deadline)) as adapter:
            response = adapter.send(request, stream=True, timeout=deadline.remaining())
            with closing(response):
                answer = _read(response)
    return Exchange(
        url=url,
        sent_headers=_lower_case(request.headers),
        sent_body=body,
        status=response.status_code,
        headers=_lower_case(response.headers),
        body=answer,
    )


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
    """The body as it was sent, of at most MAX_ANSWER_BYTES."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise BadAnswer("the answer is encoded, which was not asked for")
    body = bytearray()
    for chunk in response.raw.stream(_CHUNK_BYTES, decode_content=False):
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise BadAnswer(f"the answer has more than {MAX_ANSWER_BYTES} bytes")
    return bytes(body)


def _lower_case(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
