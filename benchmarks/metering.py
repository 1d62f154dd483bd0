"""What a burst of calls costs everybody who works for it: the web processes and the database's."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import median

import psycopg

from benchmarks import records
from benchmarks.load import Answers, Burst, Loader
from benchmarks.machine import cpu_seconds
from benchmarks.pairing import Paired, paired
from benchmarks.servers import Server

_BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend'"


class Backends:
    """PostgreSQL's processes that serve a database; seen from another one, so as not to count itself."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._catalog = psycopg.connect(f"{records.POSTGRESQL}/postgres", autocommit=True)

    def cpu_seconds(self) -> float:
        """What they have cost so far."""
        return cpu_seconds(self.processes())

    def processes(self) -> list[int]:
        """Those that run."""
        return [pid for (pid,) in self._catalog.execute(_BACKENDS, [self._database])]


class Refused(Exception):
    """A measured call was not answered with 200, so the figures would mean nothing."""


class Meter:
    """Sends bursts, and keeps how long their answers took."""

    def __init__(self, servers: Sequence[Server], loader: Loader, database: Backends | None) -> None:
        self._servers, self._loader, self._database = servers, loader, database
        self.answers: dict[str, list[Answers]] = defaultdict(list)

    def cpu_seconds(self) -> float:
        """What the servers and PostgreSQL's processes have cost so far."""
        web = sum(server.cpu_seconds() for server in self._servers)
        return web + (self._database.cpu_seconds() if self._database else 0)

    def measure(self, bursts: Mapping[str, Burst], *, rounds: int) -> Paired:
        """CPU seconds of one call of each burst, by turns; raises Refused."""
        contenders: dict[str, Callable[[], float]] = {
            name: lambda name=name, burst=burst: self._cost(name, burst) for name, burst in bursts.items()
        }
        paired(contenders, rounds=1)  # every thread connects to the database
        self.answers.clear()
        return paired(contenders, rounds=rounds)

    def _cost(self, name: str, burst: Burst) -> float:
        before = self.cpu_seconds()
        answers = self._loader.send(burst)
        after = self.cpu_seconds()
        if set(answers.statuses) != {"200"}:
            raise Refused(f"{name}: {answers.statuses}")
        self.answers[name].append(answers)
        return (after - before) / answers.count

    def p50_ms(self, name: str) -> float:
        """The median of the bursts' medians."""
        return median(answers.p50_ms for answers in self.answers[name])

    def p99_ms(self, name: str) -> float:
        """The median of the bursts' 99th percentiles."""
        return median(answers.p99_ms for answers in self.answers[name])
