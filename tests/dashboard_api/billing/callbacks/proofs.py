"""Payment callbacks in every order, in many copies at once, and with kills between any two statements.

As a program it uses the migrated database of the environment and exits with what was wrong: it kills a
process with SIGKILL before each statement and around each commit, while it stores an event or tries one
again: the event is stored and applied, or neither, and the next delivery completes it. Then 8 processes
deliver copies of one event: it is applied once.
"""

import json
import multiprocessing
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

PROCESSES, COPIES = 8, 5
ENDS = ("2199-12-31", "2199-12-30")
STATUSES = ("trialing", "active", "past_due", "suspended", "past_due", "active")


def event(account: Any, version: int, **data: Any) -> bytes:
    """Return the bytes of an event of the account's subscription."""
    own = {"billing_ref": str(account.billing_ref), "version": version, "plan": account.ref, "renews": True}
    own |= {"status": "active", "ends_on": ENDS[version % 2], "past_due_since": "2199-12-01"}
    return json.dumps({"type": "entitlement.set", "data": own | data}).encode()


def life(account: Any) -> list[bytes]:
    """Return the six events of a life; the last two have the same version."""
    return [event(account, min(version, 4), status=status) for version, status in enumerate(STATUSES)]


def orders(*, provider: str, bodies: Sequence[bytes]) -> tuple[int, set[str]]:
    """Deliver the events in every order, each of them twice; return how many orders, and their last rows.

    Orders share their beginnings, which savepoints keep. Beginnings of the same events that led to the
    same rows are continued once: what follows depends on nothing else.
    """
    from django.db import transaction

    from dashboard_api.billing.callbacks import applying

    ends: set[str] = set()
    walked: dict[tuple[frozenset[int], str], int] = {}
    numbers, now = count(), datetime.now(UTC)

    def walk(delivered: frozenset[int], rows: str) -> int:
        if len(delivered) == len(bodies):
            ends.add(rows)
            return 1
        if (delivered, rows) in walked:
            return walked[delivered, rows]
        found = 0
        for index in set(range(len(bodies))) - delivered:
            point = transaction.savepoint()
            applying.receive(provider, f"order-{next(numbers)}", bodies[index], now)
            once = _rows(provider)
            applying.receive(provider, f"order-{next(numbers)}", bodies[index], now)
            if _rows(provider) != once:
                ends.add(f"a copy of event {index} changed the rows")
            found += walk(delivered | {index}, once)
            transaction.savepoint_rollback(point)
        walked[delivered, rows] = found
        return found

    with transaction.atomic():
        number = walk(frozenset(), "")
    return number, ends


def _rows(provider: str) -> str:
    """Return the rows on which the effect of later events depends."""
    from dashboard_api.models import BillingCustomer, CallbackEvent, Entitlement, Subscription

    hidden = {"id", "account_id"}
    rows = [
        {name: value for name, value in row.items() if name not in hidden}
        for model in (Subscription, BillingCustomer, Entitlement)
        for row in model.objects.order_by("account_id", "pk").values()
    ]
    # Events that wait are applied by later ones; copies of one wait alike.
    waiting = CallbackEvent.objects.filter(provider=provider, next_at__isnull=False)
    return str((rows, sorted({each.body() for each in waiting})))


def check_copies() -> Iterator[str]:
    """Yield what was wrong with deliveries of one event by 8 processes."""
    from django.db import connections

    account = _account()
    body = event(account, 1, status="suspended")
    connections.close_all()
    context = multiprocessing.get_context("fork")
    together = context.Barrier(PROCESSES)
    with context.Pool(PROCESSES, _joined.update, ({"together": together},)) as pool:
        states = sum(pool.map(_deliver, [(account.ref, body)] * PROCESSES, chunksize=1), Counter())
    if states["applied"] != 1 or set(states) - {"busy"} != {"applied", "duplicate"}:
        yield f"one event in copies: {dict(states)}"
    yield from _not_once(account, account.ref)


_joined: dict[str, Any] = {}


def _deliver(work: tuple[str, bytes]) -> Counter[str]:
    """Deliver copies of an event at once with other processes; one that could not be stored is sent again."""
    from django.db import OperationalError

    from dashboard_api.billing.callbacks import applying

    event_id, body = work
    states: Counter[str] = Counter()
    _joined["together"].wait(60)
    while states.total() - states["busy"] < COPIES:
        try:
            states[str(applying.receive("standard", event_id, body, datetime.now(UTC)))] += 1
        except OperationalError:  # a 503
            states["busy"] += 1
    return states


def check_kills() -> Iterator[str]:
    """Yield what was wrong after kills at each step of a delivery, and of another attempt."""
    for name, begin in (("delivery", _delivery), ("attempt", _attempt)):
        for step in count():
            account = _account()
            work = begin(account)
            is_killed = _killed_at(step, work)
            _wait_for(account.ref)
            yield from (f"{name}, step {step}: {fault}" for fault in _half_applied(account))
            work()
            yield from (f"{name}, step {step}: {fault}" for fault in _not_once(account, account.ref))
            if not is_killed:
                break


def _delivery(account: Any) -> Callable[[], None]:
    from dashboard_api.billing.callbacks import applying

    body = event(account, 1, status="suspended")

    def work() -> None:
        applying.receive("standard", account.ref, body, datetime.now(UTC))

    return work


def _attempt(account: Any) -> Callable[[], None]:
    """Return another attempt with an event that has failed, because its plan was unknown."""
    from dashboard_api.billing.callbacks import applying

    body = event(account, 1, status="suspended", plan=f"{account.ref}-2")
    applying.receive("standard", account.ref, body, datetime.now(UTC))
    _plan(f"{account.ref}-2")

    def work() -> None:
        applying.process_due(datetime.now(UTC) + timedelta(hours=1))

    return work


def _killed_at(step: int, work: Callable[[], None]) -> bool:
    """Let another process do the work until a step; return whether it was killed there.

    The steps are before each statement, and before and after each commit.
    """
    from django.db import connection, connections

    connections.close_all()
    if not (child := os.fork()):
        steps = count()

        def reach() -> None:
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        def execute(run: Any, *arguments: Any) -> Any:
            reach()
            return run(*arguments)

        commit = connection._commit

        def committed() -> None:
            reach()
            commit()
            reach()

        connection._commit = committed  # type: ignore[method-assign]
        try:
            with connection.execute_wrapper(execute):
                work()
            os._exit(0)
        finally:
            os._exit(1)
    _child, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and os.waitstatus_to_exitcode(status):
        raise RuntimeError("the work itself failed")
    return os.WIFSIGNALED(status)


def _wait_for(event_id: str) -> None:
    """Wait until the database has freed the event of a killed process, which another attempt would skip."""
    from django.db import transaction

    from dashboard_api.models import CallbackEvent

    with transaction.atomic():
        list(CallbackEvent.objects.select_for_update().filter(event_id=event_id))


def _half_applied(account: Any) -> Iterator[str]:
    """Yield a line if the event is applied without its change, or the change is there without it."""
    from dashboard_api.models import CallbackEvent, Entitlement

    is_applied = CallbackEvent.objects.filter(event_id=account.ref, state="applied").exists()
    is_changed = Entitlement.objects.get(account=account).status == "suspended"
    if is_applied != is_changed:
        yield f"applied: {is_applied}, changed: {is_changed}"


def _not_once(account: Any, event_id: str) -> Iterator[str]:
    """Yield a line unless the event is stored once and has changed the entitlement once."""
    from audit.models import AuditEvent
    from dashboard_api.models import CallbackEvent, Entitlement

    stored = CallbackEvent.objects.filter(event_id=event_id)
    changes = AuditEvent.objects.filter(account=account.ref, action="entitlement.changed").count()
    status = Entitlement.objects.get(account=account).status
    found = ([each.state for each in stored], changes, status)
    if found != (["applied"], 1, "suspended"):
        yield f"stored, changes, status: {found}"


_accounts = count()


def _account() -> Any:
    """Return a new account with an active plan of its own, which no event has changed."""
    from dashboard_api.billing import entitlements
    from dashboard_api.models import Account

    account = Account.objects.create(ref=f"callbacks-{os.getpid()}-{next(_accounts)}")
    _plan(account.ref)
    entitlements.change(account, {"plan": account.ref}, by="benchmark", is_payment=True)
    return account


def _plan(slug: str) -> None:
    from dashboard_api.billing import plans
    from dashboard_api.models import Plan

    plans.save(Plan(slug=slug, name={"en": "Team"}, limits={"websites": 20}), by="benchmark")


def main() -> None:
    """Exit with what was wrong after the kills and the copies."""
    import django

    django.setup()
    sys.exit("\n".join([*check_kills(), *check_copies()]) or 0)


if __name__ == "__main__":
    main()
