"""One run of an engine: its process, its way to the website, and how it ended."""

import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import msgspec
from django.conf import settings
from django.utils import timezone

from dashboard_api.crawler import facts, policy, process
from dashboard_api.crawler.engines import Engine
from dashboard_api.models import EngineRun, ScanJob
from dashboard_api.scanners.redaction import redact_headers
from foundation.outbound.deadline import ConnectFailed, Deadline, DeadlinePassed
from foundation.outbound.fetch import USER_AGENT, FetchFailed, fetch, pinned_connection, unverified
from foundation.outbound.gate import Gate, Reach
from foundation.outbound.name_servers import resolvers
from foundation.outbound.names import localhost_port, origin_of
from foundation.outbound.proxy import Limits, Proxy, Tunnel, WebsiteProxy
from foundation.outbound.robots import robots_of
from foundation.outbound.tls import shows_another

BLOCKED = "blocked"
# Reasons by the exit code, the negative number of a signal: SIGXCPU, SIGXFSZ, and SIGKILL by Linux at the
# memory limit of the unit or container. A SIGKILL by the worker has a reason of its own.
_SIGNAL_REASONS = {-24: "engine_timeout", -25: "too_much_output", -9: "out_of_memory"}
# Messages of Python, C++, the C library, Node.js and Java at the memory limit.
_NO_MEMORY = re.compile(r"\bMemoryError\b|bad_alloc|cannot allocate memory|out ?of ?memory", re.IGNORECASE)
_CONNECT_SECONDS = 5.0
_LISTEN = str(Path(__file__).parent / "listen.py")
_PORT = 8080  # of the proxy behind the wall, where nothing else listens


@dataclass(slots=True, kw_only=True)
class Run:
    """A run that has ended, before the import of its report.

    ``refusal`` is why its report does not count. ``is_ours`` marks a report by the worker, which only says
    why the check failed.
    """

    engine: Engine
    row: EngineRun
    report: Path
    refusal: str = ""
    requests: int = 0
    is_ours: bool = False


def user_agent(job: ScanJob) -> str:
    """Return the User-Agent of the scan; it links to our page about scans, if SCANNER_URL is set."""
    return f"{USER_AGENT} (+{settings.SCANNER_URL}; job={job.pk})" if settings.SCANNER_URL else USER_AGENT


def run_engine(
    job: ScanJob,
    engine: Engine,
    address: str,
    folder: Path,
    tick: Callable[[], object],
    *,
    seconds: int,
    requests: int,
) -> Run:
    """Run the engine for at most ``seconds``, with at most ``requests`` through our proxy."""
    folder.mkdir()
    now = timezone.now()
    row = EngineRun(job=job, engine=engine.name, address=address or None, started_at=now, ended_at=now)
    run = Run(engine=engine, row=row, report=folder / "report")
    program = engine.program()
    if program is None:
        row.state, row.reason = EngineRun.State.SKIPPED, "engine_missing"
    elif seconds < 1:  # also if the website refuses scans
        row.state, row.reason = EngineRun.State.SKIPPED, "no_time_left"
    else:
        engine_in_time = msgspec.structs.replace(engine, seconds=min(engine.seconds, seconds))
        url = _start_url(job.website.host, address, user_agent(job)) if engine.has_proxy else ""
        proxy = _proxy(job, engine, url, address, folder, requests)
        with proxy or nullcontext():
            if isinstance(proxy, WebsiteProxy) and not proxy.allows("/"):
                row.state, row.reason = EngineRun.State.FAILED, "robots_txt"
            else:
                _run(run, engine_in_time, program, url, proxy, tick)
    return run


def _run(
    run: Run,
    engine: Engine,
    program: str,
    url: str,
    proxy: Proxy | None,
    tick: Callable[[], object],
) -> None:
    row, job = run.row, run.row.job
    website = proxy if isinstance(proxy, WebsiteProxy) else None

    def tick_with_proxy() -> str:
        tick()
        return website.problem if website else ""

    never = policy.never_scanned(job.website.host)
    reach = Reach(
        address=row.address or "",
        others=engine.is_built_in,
        never=never,
        resolvers=resolvers() if engine.is_built_in else (),
    )
    # Behind the wall the program has a loopback of its own: it opens the port, and hands it to the proxy.
    opens_port = proxy is not None and settings.CRAWLER_WALL
    port = _PORT if opens_port or proxy is None else proxy.listen()
    with Gate(reach, proxy.serve if proxy and opens_port else None) as gate:
        arguments = engine.arguments(
            host=job.website.host,
            address=row.address or "",
            report=run.report,
            agent=user_agent(job),
            url=url,
            proxy=f"http://127.0.0.1:{port}/",
            tunnel=f"127.0.0.1:{port}",
            gate=gate.descriptor,
            never=never,
            expected=_expected_scripts(job, run),
        )
        if opens_port:
            arguments = ["-I", "-S", _LISTEN, str(gate.descriptor), str(port), program, *arguments]
            program = sys.executable
        ended = process.run(
            engine,
            program,
            arguments,
            folder=run.report.parent,
            tick=tick_with_proxy,
            inherits=[gate.descriptor],
        )
    row.exit_code, row.ended_at, row.log = ended.exit_code, timezone.now(), redact_headers(ended.log)
    row.state, row.reason = _state_and_reason(engine, ended, run.report)
    if row.state == EngineRun.State.OK and ended.stopped_early:
        row.reason = "stopped_early"
        run.engine = msgspec.structs.replace(engine, complete=False)
    if website:
        run.requests = website.requests
        if website.problem == BLOCKED or website.is_refused:
            run.refusal = BLOCKED
        elif row.state == EngineRun.State.OK and not website.answers:
            row.state, row.reason = EngineRun.State.FAILED, "connect_failed"


def _expected_scripts(job: ScanJob, run: Run) -> Path | None:
    """Write the file with expected hosts and pins next to the report, for the engine of scripts."""
    if run.engine.command[0] != "$scripts":
        return None
    file = run.report.with_name("expected.json")
    file.write_bytes(msgspec.json.encode(facts.expected(job.website_id)))
    return file


def _proxy(job: ScanJob, engine: Engine, url: str, address: str, folder: Path, requests: int) -> Proxy | None:
    """Return the engine's proxy to the website at ``url``, with the limits of the profile, or its tunnel."""
    if engine.has_tunnel:
        return Tunnel(job.website.host, address, localhost_port(job.website.host) or 443)
    if not engine.has_proxy:
        return None
    host, profile = job.website.host, policy.PROFILES[job.profile]
    limits = Limits(
        requests=requests, bytes=profile.megabytes * 1024**2, a_second=policy.CONNECTIONS_A_SECOND
    )
    allows = robots_of(url, address, agent=user_agent(job), never=policy.never_scanned(host))
    return WebsiteProxy(host, address, limits, folder=folder, allows=allows)


def _start_url(host: str, address: str, agent: str = "") -> str:
    """Return the URL of the home page, with http if the website has no https of its own."""
    encrypted, plain = f"{origin_of(host)}/", f"http://{host}/"
    if localhost_port(host) is not None:
        return encrypted
    connection = pinned_connection(host, 443, [address], Deadline(_CONNECT_SECONDS), unverified())
    try:
        connection.connect()
    except (ConnectFailed, DeadlinePassed):
        return plain
    finally:
        connection.close()
    if not shows_another(host, address, Deadline(_CONNECT_SECONDS)):
        return encrypted
    never = policy.never_scanned(host)
    try:
        page = fetch(plain, max_bytes=1, verify=False, agent=agent, pinned=[address], never=never)
    except FetchFailed:
        return plain
    return encrypted if any(hop.url.startswith(encrypted) for hop in page.hops) else plain


def _state_and_reason(engine: Engine, ended: process.Ended, report: Path) -> tuple[str, str]:
    """Return the state and reason of a run; an unreadable report is only noticed by the import."""
    if ended.reason:
        state = EngineRun.State.TIMED_OUT if ended.reason == "engine_timeout" else EngineRun.State.FAILED
        return state, ended.reason
    code = ended.exit_code or 0
    if report.is_file() and not report.is_symlink() and report.stat().st_size and code >= 0:
        return EngineRun.State.OK, ""
    if _NO_MEMORY.search(ended.log):
        return EngineRun.State.FAILED, "out_of_memory"
    known_reason = engine.exit_codes.get(str(code)) or _SIGNAL_REASONS.get(code)
    return EngineRun.State.FAILED, known_reason or ("engine_crashed" if code else "no_report")
