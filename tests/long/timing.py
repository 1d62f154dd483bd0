"""Time of refused calls by what is wrong with them: it must not show which accounts exist.

Calls of each kind alternate in random order, in one process without HTTP. The control refuses unknown
accounts before any work, as a careless service would: the difference must be seen.
"""

import itertools
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from statistics import median
from unittest import mock

import es1
from benchmarks import dataset

MOST, NOTICED = 0.03, 0.1  # shares of the time of the base
PATH = "/v1/site/dashboard"
BASE, UNKNOWN, REVOKED = "a wrong signature", "an unknown account", "an account with a revoked secret"
CONTROL = "control: an early refusal"
REVOKED_REF = "timing-revoked"


def timing(*_: object, rounds: int) -> Iterator[str]:
    """Yield what was wrong with the medians of ``rounds`` calls of each kind."""
    samples = _measure(_contenders(), times=rounds)
    base = median(samples.pop(BASE))
    for name, values in samples.items():
        share = abs(median(values) - base) / base
        print(f"{name}: {median(values):.1f} us instead of {base:.1f}, a difference of {share:.2%}")
        if name == CONTROL and share < NOTICED:
            yield "the control, an early refusal, was not noticed"
        if name != CONTROL and share >= MOST:
            yield f"{name} differs by {share:.2%}"


def _contenders() -> dict[str, Callable[[], None]]:
    from django.test import RequestFactory
    from django.utils import timezone

    from benchmarks import product  # imports models: only after Django is set up
    from dashboard_api.api import authentication, views
    from dashboard_api.models import Account, Secret
    from dashboard_api.queries.credentials import Credentials

    account, is_new = Account.objects.get_or_create(ref=REVOKED_REF)
    if is_new:
        secret, _ = Secret.objects.issue(account, by="benchmark")
        secret.revoke(now=timezone.now())
    body = product.body_about(dataset.LARGEST)
    numbers = itertools.count(1)
    unseen = Credentials(is_known=False, signers=[], link=None)

    def call(ref: str) -> Callable[[], None]:
        def refused() -> None:
            content = json.dumps(body | {"portal_account_ref": ref, "page": next(numbers)}).encode()
            headers = es1.sign(
                "x" * 40,
                method="POST",
                path=PATH,
                body=content,
                now=int(time.time()),
                nonce=f"{next(numbers):09}",
            )
            environ = {"CONTENT_LENGTH": str(len(content)), "wsgi.input": BytesIO(content)}
            request = RequestFactory().generic(
                "POST", PATH, headers=headers, CONTENT_TYPE="application/json", **environ
            )
            started = time.perf_counter_ns()
            response = views.site_dashboard(request)
            refused.elapsed = time.perf_counter_ns() - started  # type: ignore[attr-defined]
            if response.status_code != 401:
                raise RuntimeError(f"{response.status_code}: {response.content!r}")

        return refused

    def early(refuse: Callable[[], None]) -> Callable[[], None]:
        def refused() -> None:
            with mock.patch.object(authentication.credentials, "read_credentials", return_value=unseen):
                refuse()
            refused.elapsed = refuse.elapsed  # type: ignore[attr-defined]

        return refused

    return {
        BASE: call(dataset.ACCOUNT),
        UNKNOWN: call("timing-unknown"),
        REVOKED: call(REVOKED_REF),
        CONTROL: early(call("timing-unknown")),
    }


def _measure(contenders: Mapping[str, Callable[[], None]], *, times: int) -> dict[str, list[float]]:
    """Return the microseconds of ``times`` calls of each contender, made in random order."""
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    for number in range(times + 50):
        random.shuffle(order)
        for name in order:
            contenders[name]()
            if number >= 50:  # the first ones fill caches
                samples[name].append(contenders[name].elapsed / 1e3)  # type: ignore[attr-defined]
    return samples
