"""PostgreSQL's CPU of one request, step by step: what a replica could take over, and what it could not."""

import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from benchmarks import dataset, rows
from benchmarks.command_line import run
from benchmarks.figures import Table
from benchmarks.pairing import paired
from benchmarks.statements import Clock

ANSWER = "the answer"  # the one step that a replica could take over
CALLS = 50


def tables(*, rounds: int, engine: str, scale: float) -> Iterator[Table]:
    """One table."""
    dataset.prepare(engine, scale)
    yield table_of(measured(rounds=rounds))


def measured(*, rounds: int) -> dict[str, float]:
    """CPU seconds of each step, asked from within this process by turns; the connection's process alone."""
    clock, steps = Clock(), _steps()

    def burst(step: Callable[[], object]) -> Callable[[], float]:
        def cost() -> float:
            before = clock()
            for _ in range(CALLS):
                step()
            return (clock() - before) / CALLS

        return cost

    bursts = {name: burst(step) for name, step in steps.items()}
    paired(bursts, rounds=1)
    costs = paired(bursts, rounds=rounds)
    return {name: costs.cost(name) for name in steps}


def table_of(costs: dict[str, float]) -> Table:
    """The steps, and their shares."""
    table = Table(
        "PostgreSQL's CPU of one request, step by step", "One client; the first page of the largest website."
    )
    for name, seconds in costs.items():
        table.add(name, "CPU", seconds * 1e3, "ms")
        table.add(name, "share", seconds / sum(costs.values()) * 100, "%")
    return table


def _steps() -> dict[str, Callable[[], object]]:
    from benchmarks import questions  # models can be imported only where Django is set up
    from dashboard_api.contract import read_dashboard_request
    from dashboard_api.models import Nonce
    from dashboard_api.queries import credentials
    from dashboard_api.reading.dashboard import build_dashboard

    now = datetime.now(UTC)
    question = read_dashboard_request(questions.about(rows.LARGEST))
    (signer,), link = credentials.read_credentials(rows.ACCOUNT, question.link_id, now)
    expires_at = now + timedelta(minutes=6)
    return {
        "who calls, and the link": lambda: credentials.read_credentials(rows.ACCOUNT, question.link_id, now),
        "the nonce": lambda: Nonce.objects.claim(
            signer.account_id, secrets.token_urlsafe(24), expires_at=expires_at
        ),
        ANSWER: lambda: build_dashboard(link, question, now),
    }


if __name__ == "__main__":
    run(tables, __doc__, engines=["postgresql"])
