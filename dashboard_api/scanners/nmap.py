"""Reader of Nmap XML (-oX).

Sources: ``nmap.dtd``, and for scripts the library ``vulns`` and the script ``vulners``. A row is a port, or a
vulnerability that a script found; the host is a check. Nmap scanned the ports in ``scaninfo``, and ran
scripts there. It does not list scripts without a result, so each choice of scripts is a category of its own,
and so is IPv6 (-6).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

from dashboard_api.scanners.report import (
    BadRow,
    Check,
    Ending,
    ReportedFinding,
    ReportRow,
    ScanReport,
    Severity,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.text import cves_in, host_and_port, labelled_lines, one_line, scheme_at, section
from dashboard_api.scanners.times import read_time
from dashboard_api.scanners.xml_document import (
    Element,
    XmlRows,
    child,
    children,
    head_pattern,
    text_at,
    text_in,
)

HEAD_PATTERN = head_pattern("nmaprun")
# Severities by the least score.
_CVSS = [(9.0, Severity.CRITICAL), (7.0, Severity.HIGH), (4.0, Severity.MEDIUM), (0.1, Severity.LOW)]
_UNCLEAR = {"open|filtered", "unfiltered"}  # states of ports that may be open
_ANSWERED = {"open", "closed", "unfiltered"}  # states of ports that answered
_SCRIPTS = re.compile(r"(?:^|\s)--script[=\s]+[\"']?([^\s\"']*)")
_NO_PING = re.compile(r"(?:^|\s)-P[nN0D](?:\s|$)")  # hosts count as up without an answer
_IPV6 = re.compile(r"(?:^|\s)-6(?:\s|$)")
_DEFAULT_SCRIPTS = re.compile(r"(?:^|\s)-(?:A|sC)(?:\s|$)")
# Output of a script that failed, which is common, or did not run because an argument was missing.
_FAILED = re.compile(r"ERROR|Could not negotiate a connection|false\Z")
_MAX_PORT = 65_535
_PROTOCOLS = ("ip", "sctp", "tcp", "udp")  # of Nmap's document type
# Services that need no access from the Internet, by their names in -sV.
_PRIVATE_SERVICES = {
    "telnet": ("Telnet", Severity.MEDIUM),
    "microsoft-ds": ("Windows file sharing (SMB)", Severity.MEDIUM),
    "netbios-ssn": ("Windows file sharing (SMB)", Severity.MEDIUM),
    "ms-sql-s": ("A database (SQL Server)", Severity.MEDIUM),
    "oracle-tns": ("A database (Oracle)", Severity.MEDIUM),
    "docker": ("Docker without a password", Severity.HIGH),
    "mysql": ("A database (MySQL)", Severity.MEDIUM),
    "mysqlx": ("A database (MySQL)", Severity.MEDIUM),
    "ms-wbt-server": ("Remote desktop (RDP)", Severity.MEDIUM),
    "postgresql": ("A database (PostgreSQL)", Severity.MEDIUM),
    "vnc": ("Remote desktop (VNC)", Severity.MEDIUM),
    "redis": ("A database (Redis)", Severity.MEDIUM),
    "elasticsearch": ("A database (Elasticsearch)", Severity.MEDIUM),
    "memcached": ("A cache (memcached)", Severity.MEDIUM),
    "mongodb": ("A database (MongoDB)", Severity.MEDIUM),
}
# Usual TCP ports of these services, which rate a port that Nmap did not probe.
_USUAL_PORTS = {
    "23": "telnet",
    "445": "microsoft-ds",
    "1433": "ms-sql-s",
    "1521": "oracle-tns",
    "2375": "docker",
    "3306": "mysql",
    "3389": "ms-wbt-server",
    "5432": "postgresql",
    "5900": "vnc",
    "6379": "redis",
    "9200": "elasticsearch",
    "11211": "memcached",
    "27017": "mongodb",
}
_UNIDENTIFIED = {"", "unknown", "tcpwrapped"}  # answers that do not identify a service
_OVER_HTTP = {"docker", "elasticsearch"}  # they use HTTP, so HTTP at their port may be them

# Services that scripts check, and that Nmap guesses from the port number without -sV.
_GUESSED_SERVICES = {
    *("http", "https", "http-alt", "https-alt", "http-proxy", "ftp", "ssh", "telnet", "domain", "snmp"),
    *("smtp", "smtps", "submission", "pop3", "pop3s", "imap", "imaps", "ldap", "ldapssl", "rpcbind"),
    *("ipp", "empowerid", "radan-http", "vnc-http", "oem-agent", "ftps", "telnets", "secure-mqtt"),
    *("microsoft-ds", "netbios-ssn", "ms-sql-s", "ms-wbt-server", "mysql", "postgresql", "redis", "vnc"),
}


class _Row(NamedTuple):
    """Port, vulnerability in a script's table, script without a result, or (without these) the host.

    A port with ``skipped`` stands for the scripts that did not run there.
    """

    host: str
    port: Element | None = None
    script: str = ""
    table: Element | None = None
    error: str = ""  # why the host was not scanned
    skipped: tuple[str, ...] = ()  # rules that were not checked; at the host, ports that may be open


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    rows = XmlRows(stream, row_names=["host"])
    run = child(rows.root, "nmaprun")
    if "nmaprun" not in rows.root:
        raise UnreadableReport("The file is not a report of Nmap: its root is not nmaprun.")

    arguments = text_at(run, "@args")
    scripts = _chosen_scripts(arguments)
    checks = set(_ports(run))  # rules such as "tcp/443"
    ports = {check.partition("/")[2] for check in checks}

    def entries() -> Iterator[ReportRow | Ending]:  # runs only when ``report`` below exists
        has_rows = False
        for entry in convert_rows(
            enumerate(_rows(rows, checks, report.choose_host, has_scripts=bool(scripts)), start=1), _convert
        ):
            has_rows = True
            yield entry
        statistics = child(child(rows.root, "nmaprun"), "runstats")
        if not has_rows and not _reached_every_host(statistics, arguments):
            raise UnreadableReport("Nmap reached no host, so the report says nothing about the website.")
        finished = child(statistics, "finished")
        end = text_at(finished, "@exit")
        failure = text_at(finished, "@errormsg") or "Nmap ended with an error" if end == "error" else ""
        yield Ending(
            complete=True if end == "success" else None,
            failure=failure,
            scanned_at=read_time(text_at(finished, "@time") or text_at(run, "@start")),
        )

    report = ScanReport(
        source="nmap",
        source_name="Nmap",
        version=text_at(run, "@version"),
        names_every_target=True,
        checks=checks | ({"script"} if scripts else set()),
        ports=ports,
        category=",".join(filter(None, ["-6" if _IPV6.search(arguments) else "", scripts])),
        entries=entries(),
    )
    return report


def _reached_every_host(statistics: Element, arguments: str) -> bool:
    """Return whether every host was up: --open hides hosts without an open port from the list."""
    hosts = child(statistics, "hosts")
    is_counted = not _NO_PING.search(arguments)
    return is_counted and text_at(hosts, "@up") not in ("", "0") and text_at(hosts, "@down") == "0"


def _chosen_scripts(arguments: str) -> str:
    """Return the chosen scripts, such as "vuln" for "--script vuln"; empty without such options."""
    chosen = [expression for expression in _SCRIPTS.findall(arguments) if expression]
    default = ["default"] if _DEFAULT_SCRIPTS.search(arguments) else []
    return ",".join([*default, *chosen])


def _ports(run: Element) -> Iterator[str]:
    """Yield the rule of each scanned port once. scaninfo lists ports as in "22,80-90", with overlaps."""
    last_ports: dict[str, dict[int, int]] = {protocol: {} for protocol in _PROTOCOLS}  # by first port
    for info in children(run, "scaninfo"):
        ranges = last_ports.get(text_at(info, "@protocol"), {})
        for first, last in _ranges(text_at(info, "@services")):
            ranges[first] = max(last, ranges.get(first, last))
    for protocol, ranges in last_ports.items():
        next_port = 0  # ranges may overlap
        for first, last in sorted(ranges.items()):
            yield from (f"{protocol}/{port}" for port in range(max(first, next_port), last + 1))
            next_port = max(next_port, last + 1)


def _ranges(services: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last port of each part; skip invalid parts."""
    for part in services.split(","):
        first, _, last = part.partition("-")
        are_ports = all(end.isascii() and end.isdecimal() and len(end) <= 5 for end in (first, last or first))
        if are_ports and int(first) <= _MAX_PORT:
            yield int(first), min(int(last or first), _MAX_PORT)


def _rows(
    rows: XmlRows, checks: set[str], choose_host: Callable[[Iterable[str]], str], *, has_scripts: bool
) -> Iterator[_Row]:
    for row in rows:
        if row.path != ("nmaprun", "host") or text_at(child(row.element, "status"), "@state") == "down":
            continue
        host = choose_host(_names(row.element))
        yield _Row(host, error=_failure(row.element, checks), skipped=_maybe_open(row.element, checks))
        for port in children(child(row.element, "ports"), "port"):
            yield _Row(host, port)
            if has_scripts and (skipped := _not_run(port)):
                yield _Row(host, port, skipped=skipped)
            yield from _tables(host, port, children(port, "script"))
        yield from _tables(host, None, children(child(row.element, "hostscript"), "script"))


def _failure(host: Element, checks: set[str]) -> str:
    """Return why the host was not scanned; empty if it was.

    A firewall may drop all packets of the scan. With -Pn, such a host still counts as up. Without -Pn, the
    host answered the ping, so its website should answer at 443.
    """
    if text_at(host, "@timedout") == "true":
        return "the scan of the host timed out"
    ports = child(host, "ports")
    states = {text_at(each, "@state") for each in children(ports, "extraports")}
    states |= {text_at(child(port, "state"), "@state") for port in children(ports, "port")}
    if states & _ANSWERED:
        return ""
    if text_at(child(host, "status"), "@reason") == "user-set":
        return "nothing answered, neither the host (-Pn) nor a port"
    if "tcp/443" in checks:
        return "no port answered, not even 443: a firewall may have blocked the scan"
    return ""


def _maybe_open(host: Element, checks: set[str]) -> tuple[str, ...]:
    """Return the rules of unlisted ports that may be open. Nmap only counts such ports in extraports.

    The count does not name a protocol. Assume UDP if it was scanned, because silent UDP ports may be open.
    """
    ports = child(host, "ports")
    if _UNCLEAR.isdisjoint(text_at(each, "@state") for each in children(ports, "extraports")):
        return ()
    listed = {_rule(port) for port in children(ports, "port")}
    scanned = [check for check in checks if check.startswith("udp/")] or checks
    return tuple(check for check in scanned if check not in listed)


def _not_run(port: Element) -> tuple[str, ...]:
    """Return the rules of scripts that cannot have run at a port.

    A closed port has no problems. Most scripts run only at an open port with a known service. vulners needs
    the software version, which only -sV finds.
    """
    state, service = text_at(child(port, "state"), "@state"), child(port, "service")
    if state == "closed":
        return ()
    name, is_probed = text_at(service, "@name"), text_at(service, "@method") == "probed"
    if state != "open" or name == "tcpwrapped" or not (is_probed or name in _GUESSED_SERVICES):
        return ("script",)
    return () if is_probed else ("script/vulners",)


def _rule(port: Element) -> str:
    return f"{one_line(text_at(port, '@protocol'))}/{one_line(text_at(port, '@portid'))}"


def _tables(host: str, port: Element | None, scripts: Sequence[Element]) -> Iterator[_Row]:
    """Yield the vulnerabilities that scripts found, and the scripts that failed.

    A vulnerability is a table of the library ``vulns``, or the table of ``vulners`` for one software.
    """
    for script in scripts:
        name, output = one_line(text_at(script, "@id")), one_line(text_at(script, "@output")[:200])
        if _FAILED.match(output):
            yield _Row(host, port, name)
        for table in children(script, "table"):
            state = _texts(table).get("state", "")
            if name == "vulners" or "VULNERABLE" in state or state.startswith("UNKNOWN"):
                yield _Row(host, port, name, table)


def _texts(table: Element) -> dict[str, str]:
    return {text_at(element, "@key"): text_in(element).strip() for element in children(table, "elem")}


def _convert(number: int, row: _Row) -> ReportedFinding | Check:
    name = row.host
    if not name:
        raise BadRow("names no host")
    location = host_and_port(name)
    rule = ""
    if row.port is not None:
        number_of_port = one_line(text_at(row.port, "@portid"))
        if not (number_of_port.isascii() and number_of_port.isdecimal()):
            raise BadRow("has a portid that is not a number")
        rule = _rule(row.port)
        service = child(row.port, "service")
        is_probed = text_at(service, "@method") == "probed"
        scheme = scheme_at(number_of_port, one_line(text_at(service, "@name")) if is_probed else "")
        location = f"{scheme}{location}:{number_of_port}"
    if row.table is not None:
        if row.script == "vulners":
            return _software(number, row.table, location)
        return _vulnerability(number, row, row.table, location)
    if row.port is not None and row.skipped:
        return Check(row=number, location=location, seen_at=None, skipped=row.skipped)
    if row.script:
        return Check(row=number, location=location, seen_at=None, skipped=(f"script/{row.script}",))
    if row.port is None:
        return Check(row=number, location=name, seen_at=None, error=row.error, skipped=row.skipped)
    state = text_at(child(row.port, "state"), "@state")
    if state in _UNCLEAR:
        return Check(row=number, location=location, seen_at=None, skipped=(rule,))
    if state != "open":
        return Check(row=number, location=location, seen_at=None, rules=(rule,))
    return _open_port(number, row.port, rule, location)


def _names(host: Element) -> list[str]:
    """Return the scanned name, or the other names of the host without one; then its addresses."""
    names = [
        (text_at(each, "@type"), one_line(text_at(each, "@name")))
        for each in children(child(host, "hostnames"), "hostname")
    ]
    scanned_names = [name for kind, name in names if kind == "user" and name]
    addresses = [
        one_line(text_at(each, "@addr"))
        for each in children(host, "address")
        if text_at(each, "@addrtype") != "mac"
    ]
    return [*(scanned_names or [name for _, name in names]), *addresses]


def _open_port(number: int, port: Element, rule: str, location: str) -> ReportedFinding:
    service = child(port, "service")
    name = one_line(text_at(service, "@name"))
    service_name, severity = _PRIVATE_SERVICES.get(_service_at(rule, service), ("", Severity.INFO))
    return ReportedFinding(
        row=number,
        identity=(rule,),
        rule=rule,
        severity=severity,
        severity_raw="",
        kind="informational" if severity is Severity.INFO else "suspected",
        title=f"{service_name} can be reached from outside"
        if service_name
        else f"Open port: {rule}{f' ({name})' if name else ''}",
        description="Nmap could connect to this port. Every open port is one more door to look after.",
        remediation="Close the port in the firewall, unless visitors need it.",
        location=location,
        evidence="\n\n".join(_evidence(port, service)),
    )


def _service_at(rule: str, service: Element) -> str:
    """Return the service that answered Nmap's probes, else the usual service of the port."""
    usual = _USUAL_PORTS.get(rule.removeprefix("tcp/"), "")
    name, product = one_line(text_at(service, "@name")), text_at(service, "@product")
    if product.lower().startswith("elasticsearch rest"):  # Nmap names the service "http"
        return "elasticsearch"
    is_known = text_at(service, "@method") == "probed" and name not in _UNIDENTIFIED
    return name if is_known and not (name == "http" and not product and usual in _OVER_HTTP) else usual


def _evidence(port: Element, service: Element) -> Iterator[str]:
    parts = (text_at(service, name) for name in ("@product", "@version", "@extrainfo"))
    state = child(port, "state")
    yield from labelled_lines(
        {
            "State": one_line(f"{text_at(state, '@state')} ({text_at(state, '@reason')})"),
            "Service": one_line(text_at(service, "@name")),
            "Software": one_line(" ".join(parts)),
        }
    )
    for script in children(port, "script"):
        yield from section(one_line(text_at(script, "@id")), text_at(script, "@output"))


def _vulnerability(number: int, row: _Row, table: Element, location: str) -> ReportedFinding | Check:
    """Return the finding or check for a table of the library ``vulns``; its state says how sure it is."""
    texts = _texts(table)
    state, key = texts["state"], one_line(text_at(table, "@key"))
    rule = f"script/{row.script}" + (f"/{key}" if key else "")
    if state.startswith("UNKNOWN"):
        return Check(row=number, location=location, seen_at=None, skipped=(rule,))
    if state.startswith("NOT"):
        return Check(row=number, location=location, seen_at=None, rules=(f"script/{row.script}",))
    groups = {text_at(each, "@key"): each for each in children(table, "table")}
    ids, refs, words = (
        [text_in(each).strip() for each in children(groups.get(name, {}), "elem")]
        for name in ("ids", "refs", "description")
    )
    title = one_line(texts.get("title", "")) or key or row.script
    return ReportedFinding(
        row=number,
        identity=(f"script/{row.script}", key or title),
        rule=rule,
        severity=Severity.HIGH,
        severity_raw=state,
        kind="suspected" if state.startswith("LIKELY") else "confirmed",
        title=title,
        description="\n".join(words),
        references=refs,
        cve=cves_in([key, *ids]),
        location=location,
        evidence="\n\n".join([*labelled_lines({"Script": row.script, "State": state})]),
    )


def _software(number: int, table: Element, location: str) -> ReportedFinding:
    """Return one finding for a software version, with the severity of its worst known vulnerability."""
    software = one_line(text_at(table, "@key"))
    entries = [_texts(each) for each in children(table, "table")]
    scores = [_score(entry.get("cvss", "")) for entry in entries]
    lines = [one_line(f"{entry.get('id', '')} {entry.get('cvss', '')}") for entry in entries]
    # Of a CPE such as "cpe:/a:apache:http_server:2.4.7", vendor and product.
    product = ":".join(software.split(":")[2:4]) or software
    worst = max(scores, default=0.0)
    return ReportedFinding(
        row=number,
        identity=("script/vulners", product),
        rule="script/vulners",
        severity=next((severity for least, severity in _CVSS if worst >= least), Severity.INFO),
        severity_raw=f"CVSS {worst}",
        kind="suspected" if worst else "informational",
        title=f"Software with known vulnerabilities: {product.replace(':', ' ') or 'unknown'}",
        description="The version that the software names has known vulnerabilities. Nothing was tried.",
        remediation="Update the software.",
        cwe=[1104],
        cve=cves_in(lines),
        location=location,
        evidence="\n\n".join([*labelled_lines({"Software": software}), *section("Known", "\n".join(lines))]),
    )


def _score(text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        return 0.0
    return score if 0 <= score <= 10 else 0.0
