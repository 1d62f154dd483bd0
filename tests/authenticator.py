"""An authenticator app as in RFC 6238, independent of the product's library."""

import base64
import hashlib
import hmac
import time


def code_of(key, *, at=None, steps=0):
    """Return the six digits of an app with ``key`` (base 32), ``steps`` half minutes later."""
    counter = int(at if at is not None else time.time()) // 30 + steps
    digest = hmac.digest(base64.b32decode(key), counter.to_bytes(8, "big"), hashlib.sha1)
    place = digest[-1] & 15
    number = int.from_bytes(digest[place : place + 4], "big") & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"
