"""CPU time of signed calls in the processes of the server and of PostgreSQL."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from statistics import median

import psycopg

from benchmarks import databases
from benchmarks.comparison import PairedCosts, compare
from benchmarks.http_load import Burst, LoadProcess, Responses
from benchmarks.machine import cpu_seconds
from benchmarks.servers import Server

_CLIENT_PROCESSES = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend'"


class PostgresProcesses:
    """PostgreSQL's processes for the connections to one database; listed through another database."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._catalog = psycopg.connect(f"{databases.POSTGRESQL}/postgres", autocommit=True)

    def cpu_seconds(self) -> float:
        """Return the CPU time of these processes so far."""
        return cpu_seconds(pid for (pid,) in self._catalog.execute(_CLIENT_PROCESSES, [self._database]))


class UnexpectedStatus(Exception):
    """A measured call had another status than 200, so the figures would mean nothing."""


class Meter:
    """A meter of bursts: their CPU time, and the response times of each burst."""

    def __init__(self, server: Server, load: LoadProcess, database: PostgresProcesses | None) -> None:
        self._server, self._load, self._database = server, load, database
        self.responses: dict[str, list[Responses]] = defaultdict(list)

    def measure(self, bursts: Mapping[str, Burst], *, rounds: int) -> PairedCosts:
        """Return the CPU seconds per call of each burst; raise UnexpectedStatus."""
        contenders: dict[str, Callable[[], float]] = {
            name: lambda name=name, burst=burst: self._cost(name, burst) for name, burst in bursts.items()
        }
        compare(contenders, rounds=1)  # every thread connects to the database
        self.responses.clear()
        return compare(contenders, rounds=rounds)

    def _cost(self, name: str, burst: Burst) -> float:
        before = self._cpu_seconds()
        responses = self._load.send(burst)
        after = self._cpu_seconds()
        if set(responses.statuses) != {"200"}:
            raise UnexpectedStatus(f"{name}: {responses.statuses}")
        self.responses[name].append(responses)
        return (after - before) / responses.count

    def _cpu_seconds(self) -> float:
        return self._server.cpu_seconds() + (self._database.cpu_seconds() if self._database else 0)

    def p50_ms(self, name: str) -> float:
        """Return the median of the bursts' medians."""
        return median(responses.p50_ms for responses in self.responses[name])

    def p99_ms(self, name: str) -> float:
        """Return the median of the bursts' 99th percentiles."""
        return median(responses.p99_ms for responses in self.responses[name])
