"""Time of refused calls by what is wrong with them: it must not show which accounts exist.

Calls of each kind alternate in random order, in one process without HTTP. The control refuses unknown
accounts before any work, as a careless service would: the difference must be seen.
"""

import itertools
import json
import logging
import random
import time
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from statistics import median
from unittest import mock

import es1
from benchmarks import dataset, rows
from benchmarks.command_line import BACKENDS, run
from benchmarks.figures import Table
from benchmarks.request_costs import UnexpectedStatus

SAMPLES = 700  # of each kind in a round
RESAMPLES = 400
PATH = "/v1/site/dashboard"
BASE, UNKNOWN, REVOKED = "a wrong signature", "an unknown account", "an account with a revoked secret"
CONTROL = "control: an early refusal"
REVOKED_REF = "timing-revoked"


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:
    """Yield one table for the backend."""
    dataset.prepare(backend, scale)
    logging.disable(logging.CRITICAL)
    samples = _measure(_contenders(), times=rounds * SAMPLES)
    table = Table(f"Refused calls on {backend}", f"{rounds * SAMPLES:,} calls of each kind; medians.")
    for name, values in samples.items():
        table.add(name, "a call", median(values), "us")
        if name == BASE:
            continue
        difference = median(values) - median(samples[BASE])
        is_control = name == CONTROL
        share = abs(difference) / median(samples[BASE]) * 100
        goals = {"at_least": 10.0} if is_control else {"at_most": 3.0}
        table.add(name, "difference", difference, "us")
        table.add(name, "share", share, "%", **goals)
        low, high = _interval(values, samples[BASE])
        table.add(name, "95 % from", low, "us")
        table.add(name, "to", high, "us")
    yield table


def _contenders() -> dict[str, Callable[[], None]]:
    from django.test import RequestFactory
    from django.utils import timezone

    from benchmarks import calls  # imports models: only after Django is set up
    from dashboard_api.api import authentication, views
    from dashboard_api.models import Account, Secret
    from dashboard_api.queries.credentials import Credentials

    account, is_new = Account.objects.get_or_create(ref=REVOKED_REF)
    if is_new:
        secret, _ = Secret.objects.issue(account, by="benchmark")
        secret.revoke(now=timezone.now())
    body = calls.body_about(rows.LARGEST)
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
                raise UnexpectedStatus(f"{response.status_code}: {response.content!r}")

        return refused

    def early(refuse: Callable[[], None]) -> Callable[[], None]:
        def refused() -> None:
            with mock.patch.object(authentication.credentials, "read_credentials", return_value=unseen):
                refuse()
            refused.elapsed = refuse.elapsed  # type: ignore[attr-defined]

        return refused

    return {
        BASE: call(rows.ACCOUNT),
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


def _interval(values: list[float], base: list[float]) -> tuple[float, float]:
    """Return the bootstrap 95 % confidence interval of the difference of medians."""
    differences = sorted(
        median(random.choices(values, k=len(values))) - median(random.choices(base, k=len(base)))
        for _ in range(RESAMPLES)
    )
    return differences[int(RESAMPLES * 0.025)], differences[int(RESAMPLES * 0.975)]


if __name__ == "__main__":
    run(tables, __doc__, backends=BACKENDS)
