"""An authenticator app as in RFC 6238, written without looking at the product's."""

import base64
import hashlib
import hmac
import time


def code_of(key, *, at=None, steps=0):
    """The six digits that an app with ``key`` (base 32) shows, ``steps`` half minutes from then."""
    counter = int(at if at is not None else time.time()) // 30 + steps
    digest = hmac.digest(base64.b32decode(key), counter.to_bytes(8, "big"), hashlib.sha1)
    place = digest[-1] & 15
    number = int.from_bytes(digest[place : place + 4], "big") & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"
