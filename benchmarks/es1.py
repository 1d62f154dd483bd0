"""Time to sign and verify with ES1, PyJWT and mohawk; the floor is one SHA-256 and one HMAC.

PyJWT signs claims with a digest of the body that its caller computes; mohawk computes the digest itself.
Both check the time and, like ``es1``, leave nonces to their caller.
"""

import hashlib
import hmac
import time
from collections.abc import Callable, Iterator

import jwt
import mohawk

import es1
from benchmarks.command_line import Table, burst_of, compare, run

SECRET = "es1_live_" + "0123456789abcdef" * 2
NONCE = "fNBv4L1rZ0qkWc8yTgXs2mUe"
PATH = "/v1/site/dashboard"
URL = f"https://dashboard.example.com{PATH}"
SIZES = {"250 bytes": 250, "8 KB": 8 * 1024}
GOALS = {"250 bytes": 2.2, "8 KB": 1.5}
BURST_SECONDS, ROUNDS = 0.001, 40  # short bursts: 40 for each requested round


def tables(*, rounds: int) -> Iterator[Table]:
    """Yield one table: microseconds of a call, and its ratio to the floor."""
    table = Table("ES1", "One process, alternating bursts of 1 ms; medians of all rounds.")
    for size, length in SIZES.items():
        body, now = b"x" * length, int(time.time())
        contenders = _scheme(body, now=now) | _pyjwt(body, now=now) | _mohawk(body)
        bursts = {name: burst_of(call, seconds=BURST_SECONDS) for name, call in contenders.items()}
        costs = compare(bursts, rounds=rounds * ROUNDS)
        for name in contenders:
            table.add(name, size, costs.cost(name) * 1e6, "us")
            goal = GOALS[size] if name == "verify" else None
            table.add(name, f"{size}, times the floor", costs.ratio(name, "floor"), "times", at_most=goal)
    yield table


def _scheme(body: bytes, *, now: int) -> dict[str, Callable[[], object]]:
    secrets, key = [SECRET], SECRET.encode()
    message = es1.canonical_string(str(now), NONCE, "POST", PATH, body).encode()
    headers = es1.sign(SECRET, method="POST", path=PATH, body=body, now=now, nonce=NONCE)

    def floor() -> None:
        hashlib.sha256(body).hexdigest()
        hmac.digest(key, message, "sha256")

    return {
        "floor": floor,
        "verify": lambda: es1.verify(
            secrets, headers, method="POST", path=PATH, body=body, now=now, window=300
        ),
        "sign": lambda: es1.sign(SECRET, method="POST", path=PATH, body=body, now=now, nonce=NONCE),
    }


def _pyjwt(body: bytes, *, now: int) -> dict[str, Callable[[], object]]:
    def sign() -> str:
        digest = hashlib.sha256(body).hexdigest()
        claims = {"iat": now, "exp": now + 3600, "jti": NONCE, "htm": "POST", "htu": PATH, "sha256": digest}
        return jwt.encode(claims, SECRET, algorithm="HS256")

    token = sign()

    def verify() -> None:
        claims = jwt.decode(token, SECRET, algorithms=["HS256"])
        if not hmac.compare_digest(claims["sha256"], hashlib.sha256(body).hexdigest()):
            raise jwt.InvalidTokenError

    return {"PyJWT verify": verify, "PyJWT sign": sign}


def _mohawk(body: bytes) -> dict[str, Callable[[], object]]:
    credentials = {"id": "acct_0001", "key": SECRET, "algorithm": "sha256"}
    call = {"url": URL, "method": "POST", "content": body, "content_type": "application/json"}

    def sign() -> str:
        header: str = mohawk.Sender(credentials, **call).request_header
        return header

    header = sign()
    return {
        "mohawk verify": lambda: mohawk.Receiver(
            lambda _: credentials, header, **call, timestamp_skew_in_seconds=3600, seen_nonce=lambda *_: False
        ),
        "mohawk sign": sign,
    }


if __name__ == "__main__":
    run(tables, __doc__)
