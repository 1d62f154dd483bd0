"""ES1 authentication for requests: signs the exact bytes of one prepared request."""

import secrets
import time
from urllib.parse import urlsplit

from requests import PreparedRequest
from requests.auth import AuthBase

import es1

NONCE_BYTES = 24  # the reference client's figure (specification, section 5)


class ES1Auth(AuthBase):
    """Adds the three headers; each prepared request gets its own timestamp and nonce."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        """Sign ``request``, whose body must be bytes: text could still change its encoding."""
        if not isinstance(request.body, bytes):
            raise TypeError("sign the bytes that will be sent")
        request.headers.update(
            es1.sign(
                self._secret,
                method=request.method or "",
                path=urlsplit(request.url or "").path,
                body=request.body,
                now=int(time.time()),
                nonce=secrets.token_urlsafe(NONCE_BYTES),
            )
        )
        return request
