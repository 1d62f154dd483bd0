"""Hosts and items of Nikto's XML, with the member names of its JSON."""

from collections.abc import Iterator
from typing import Any

from dashboard_api.scanners.members import JsonObject
from dashboard_api.scanners.times import Time, read_time
from dashboard_api.scanners.xml_document import Element, XmlRows, child, head_pattern, text_at

XML_HEAD_PATTERN = head_pattern("niktoscans?")
_CODES = {"&lt;": "<", "&gt;": ">", "&quot;": '"'}  # Nikto writes these in addresses, even in CDATA


def xml_rows(rows: XmlRows, ends: list[Time]) -> Iterator[tuple[JsonObject, Any]]:
    """Yield each item with its host, and each host without items; add the hosts' times to ``ends``."""
    has_items = False
    for row in rows:
        if row.name == "item":
            has_items = True
            yield _host(row.parent("scandetails")), _item(row.element)
            continue
        if not has_items:
            yield _host(row.element), None
        has_items = False
        times = text_at(child(row.element, "statistics"), "@endtime"), text_at(row.element, "@starttime")
        ends += map(read_time, times)


def _host(host: Element) -> JsonObject:
    names = {"ip": "@targetip", "port": "@targetport", "banner": "@targetbanner", "site": "@sitename"}
    names["host"] = "@hostheader" if text_at(host, "@hostheader") else "@targethostname"
    return {key: text_at(host, name) for key, name in names.items()}


def _item(item: Element) -> JsonObject:
    names = {"id": "@id", "OSVDB": "@osvdbid", "method": "@method", "msg": "description"}
    url = text_at(item, "uri")
    for code, character in _CODES.items():
        url = url.replace(code, character)
    return {key: text_at(item, name) for key, name in names.items()} | {
        "url": url,
        "references": text_at(item, "references"),
    }
