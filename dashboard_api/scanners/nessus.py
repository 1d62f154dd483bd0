"""Reader of the .nessus format, version 2, of Nessus and Tenable's web application scanner.

Source: Tenable's "Nessus v2 File Format". A row is an item of a host; the host itself is a check. The reader
skips policies, which may hold credentials. The format does not say whether a scan was complete.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from ipaddress import ip_address
from typing import BinaryIO
from urllib.parse import urlsplit

from dashboard_api.scanners.report import (
    BadRow,
    Check,
    Ending,
    Kind,
    ReportedFinding,
    ReportRow,
    ScanReport,
    Severity,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.text import (
    cves_in,
    cwes_in,
    host_and_port,
    labelled_lines,
    numbers_in,
    one_line,
    scheme_at,
    section,
)
from dashboard_api.scanners.times import Time, newest, read_time
from dashboard_api.scanners.xml_document import (
    Element,
    XmlRow,
    XmlRows,
    child,
    children,
    head_pattern,
    text_at,
    text_in,
)

HEAD_PATTERN = head_pattern("NessusClientData_v2")
# Nessus has the same numbers.
_SEVERITIES = {str(severity.value): severity for severity in Severity}
_FOUND_ON = re.compile(r"\bon URL '(https?://[^'\s]+)'")
# Nessus writes this where it read a version or banner without a test.
_BY_VERSION = re.compile(r"self-reported version|has not (?:actually )?(?:tested|attempted)", re.IGNORECASE)
# Properties of a host: the end of its scan, and all times, the best first.
_ENDS = {"HOST_END", "HOST_END_TIMESTAMP"}
_TIMES = ("HOST_END_TIMESTAMP", "HOST_END", "HOST_START_TIMESTAMP", "HOST_START")
_PING = "10180"  # the plugin that looks whether the host answers
_NO_SOLUTION = {"n/a", "none", ""}


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    # The last three belong to policies; naming them here drops them from memory.
    rows = XmlRows(stream, row_names=["ReportItem", "ReportHost", "PluginItem", "preference", "item"])
    if not rows.are_left:
        raise UnreadableReport("The file is not a report of Nessus: it has no host.")
    ends: list[Time] = []  # reading the rows completes it

    def entries() -> Iterator[ReportRow | Ending]:  # runs only when ``report`` below exists
        used_rows = (row for row in rows if row.name in ("ReportItem", "ReportHost"))
        rows_of_hosts = enumerate(_noting_ends(used_rows, ends), start=1)
        yield from convert_rows(rows_of_hosts, partial(_convert, names=_Names(report.choose_host)))
        yield Ending(scanned_at=newest(ends))

    report = ScanReport(source="nessus", source_name="Nessus", names_every_target=True, entries=entries())
    return report


def _noting_ends(rows: Iterator[XmlRow], ends: list[Time]) -> Iterator[XmlRow]:
    """Yield ``rows``; add the end of each host's scan to ``ends``, or its start if it did not end."""
    for row in rows:
        if row.name == "ReportHost":
            properties = _properties(row.element)
            texts = (properties.get(name, "") for name in _TIMES)
            ends.append(read_time(next(filter(None, texts), "")))
        yield row


def _properties(host: Element) -> dict[str, str]:
    tags = children(child(host, "HostProperties"), "tag")
    return {text_at(tag, "@name"): one_line(text_in(tag)) for tag in tags}


class _Names:
    """Cache of the current host's best name, because a host may have many properties to search."""

    def __init__(self, choose_host: Callable[[Iterable[str]], str]) -> None:
        self._choose_host = choose_host
        self._host: Element | None = None
        self._size, self._name = 0, ""

    def of(self, host: Element) -> str:
        """Return the name of ``host``."""
        if host is not self._host or len(host) != self._size:  # new elements may be properties
            self._host, self._size, self._name = host, len(host), self._choose_host(_host_names(host))
        return self._name


def _convert(number: int, row: XmlRow, *, names: _Names) -> ReportedFinding | Check:
    host = row.element if row.name == "ReportHost" else row.parent("ReportHost")
    name = names.of(host)
    if not name:
        raise BadRow("names no host")
    if row.name == "ReportHost":
        error = "" if _ENDS & _properties(host).keys() else "the scan of the host did not end"
        return Check(row=number, location=name, seen_at=None, error=error)
    item = row.element
    if text_at(item, "@pluginID") == _PING and "considered as dead" in text_at(item, "plugin_output"):
        return Check(row=number, location=name, seen_at=None, error="Nessus considered the host as dead")
    return _finding(number, item, _location(item, name))


def _host_names(host: Element) -> list[str]:
    """Return the possible names of a host, the best first.

    A scanned name comes before the IP address; for a scanned IP address, the names that Nessus found come
    first. The web application scanner writes a URL as the name.
    """
    name, properties = one_line(text_at(host, "@name")), _properties(host)
    if _is_web_address(name):
        return [name]
    fqdn, reverse_name, address = (properties.get(tag, "") for tag in ("host-fqdn", "host-rdns", "host-ip"))
    try:
        ip_address(name)
    except ValueError:
        return [name, address]
    return [fqdn, reverse_name, name]


def _is_web_address(host: str) -> bool:
    return host.lower().startswith(("http://", "https://"))


def _location(item: Element, host: str) -> str:
    if _is_web_address(host):
        seen = _FOUND_ON.search(text_at(item, "plugin_output"))
        return seen[1] if seen and _host_of(seen[1]) == _host_of(host) else host
    port = one_line(text_at(item, "@port"))
    if port in ("", "0"):
        return host_and_port(host)
    return scheme_at(port, one_line(text_at(item, "@svc_name"))) + host_and_port(host, port)


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _finding(number: int, item: Element, location: str) -> ReportedFinding:
    plugin, title = one_line(text_at(item, "@pluginID")), one_line(text_at(item, "@pluginName"))
    severity = _SEVERITIES.get(one_line(text_at(item, "@severity")))
    if not (plugin and title):
        raise BadRow("has no pluginID" if title else "has no pluginName")
    if severity is None:
        raise BadRow("has a severity that is not one of 0 to 4")
    description, solution = text_at(item, "description").strip(), text_at(item, "solution").strip()
    xrefs = _texts(item, "xref")
    kind: Kind = (
        "suspected" if _BY_VERSION.search(description + text_at(item, "plugin_output")) else "confirmed"
    )
    return ReportedFinding(
        row=number,
        identity=(plugin,),
        rule=plugin,
        severity=severity,
        severity_raw=text_at(item, "risk_factor"),
        kind="informational" if severity is Severity.INFO else kind,
        title=title,
        description="\n\n".join(filter(None, [text_at(item, "synopsis").strip(), description])),
        remediation="" if solution.lower() in _NO_SOLUTION else solution,
        references=_texts(item, "see_also"),
        cwe=[*numbers_in(_texts(item, "cwe")), *cwes_in(xrefs)],
        cve=cves_in(_texts(item, "cve")),
        location=location,
        evidence="\n\n".join(_evidence(item)),
    )


def _texts(item: Element, name: str) -> list[str]:
    return [text_in(element) for element in children(item, name)]


def _evidence(item: Element) -> Iterator[str]:
    scores = (text_at(item, name) for name in ("cvss3_base_score", "cvss3_vector", "cvssv3"))
    yield from labelled_lines(
        {
            "Plugin": one_line(f"{text_at(item, '@pluginID')} ({text_at(item, '@pluginFamily')})"),
            "Service": one_line(f"{text_at(item, '@svc_name')} {text_at(item, '@protocol')}"),
            "CVSS": one_line(" ".join(scores)),
        }
    )
    yield from section("Output", text_at(item, "plugin_output"))
