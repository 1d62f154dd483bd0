"""Hooks of Schemathesis, which loads this module in an environment of its own: calls are signed.

Cases that fit the description are about the website of the run, so that they get far. The others are sent
as they were generated.
"""

import json
import os
import secrets
import time
from typing import Any

import schemathesis  # type: ignore[import-not-found]  # make schemathesis installs it

import es1

_UNSIGNED = "X-Unsigned"  # from one hook to the other; it is not sent
SECRET, OWN = os.environ["CASES_SECRET"], json.loads(os.environ["CASES_BODY"])


@schemathesis.auth.set_from_requests  # type: ignore[untyped-decorator]
def sign(request: Any) -> Any:
    """Sign the bytes that are sent, unless the case is about missing or odd headers."""
    if request.headers.pop(_UNSIGNED, None):
        return request
    body = request.body or b""
    data = body.encode() if isinstance(body, str) else body
    headers = es1.sign(
        SECRET,
        method=request.method,
        path=request.path_url.partition("?")[0],
        body=data,
        now=int(time.time()),
        nonce=secrets.token_urlsafe(24),
    )
    request.headers.update(headers)
    return request


@schemathesis.hook  # type: ignore[untyped-decorator]
def before_call(context: Any, case: Any, kwargs: Any) -> None:  # the names are theirs
    """Let a case that fits the description be about our website; leave odd headers as they are."""
    if case.meta is None:
        return
    if case.meta.generation.mode.value == "positive" and isinstance(case.body, dict):
        own = {name: value for name, value in OWN.items() if name in case.body}
        if "/claim" in case.path:  # a claim to our website that is withdrawn would end its link
            own.pop("host", None)
        case.body |= own
    headers = case.meta.components.get("header")
    if headers and headers.mode.value == "negative":
        case.headers[_UNSIGNED] = "1"
