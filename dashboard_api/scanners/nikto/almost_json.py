"""Nikto's reports that are almost JSON: up to version 2.5 it writes them by hand, and not always validly.

The first of these versions ends lists with commas and quotes no numbers; the next forgets what stands
between hosts; none escapes quotes in addresses. What is read here is exactly what their
``nikto_report_json.plugin`` prints. Every repetition is decided by the next character: no text takes long.
"""

import json
import re
from collections.abc import Iterator

from dashboard_api.scanners.members import Row

_END_OF_ITEM = r'\},?(?:\{"id":\s*"?\d|\](?:[,}\s]*\{"host":"|[,}\]\s]*\Z))'
_HOST = re.compile(
    r'[\[,}\s]*\{"host":"(?P<host>[^"]*)","ip":"(?P<ip>[^"]*)","port":"(?P<port>[^"]*)",'
    r'"banner":"(?P<banner>[^"\\]*(?:\\.[^"\\]*)*)","vulnerabilities":\['
)
_ITEM = re.compile(
    r',?\{"id":\s*(?P<quote>"?)(?P<id>\d+)"?,(?:"OSVDB":\s*"?(?P<OSVDB>\d+)"?,)?'
    r'(?:"references":\s*"(?P<references>[^"]*)",)?(?:"method":"(?P<method>[^"]*)",)?'
    r'"url":"(?P<url>[^"]*(?:"(?!,"msg":")[^"]*)*)",'
    rf'"msg":"(?P<msg>[^"]*(?:"(?!{_END_OF_ITEM})[^"]*)*)"(?={_END_OF_ITEM})\}},?'
)
_END_OF_HOST = re.compile(r"\][,}\]\s]*")


def hosts_by_hand(data: bytes | bytearray) -> list[Row]:
    """The hosts with their items, as JSON would have them; none where anything else stands between."""
    text = data.decode(errors="replace")
    hosts: list[Row] = []
    position = 0
    while host := _HOST.match(text, position):
        items = []
        position = host.end()
        while item := _ITEM.match(text, position):
            items.append(dict(_members(item)))
            position = item.end()
        end = _END_OF_HOST.match(text, position)
        if end is None:
            return []
        position = end.end()
        banner = host["banner"].replace('\\"', '"')
        hosts.append(host.groupdict() | {"banner": banner, "vulnerabilities": items})
    return hosts if position == len(text) else []


def _members(item: re.Match[str]) -> Iterator[tuple[str, str]]:
    for name, value in item.groupdict().items():
        if value is not None and name not in ("quote", "msg"):
            yield name, value
    yield "msg", _encoded(item["msg"]) if item["quote"] else item["msg"]


def _encoded(message: str) -> str:
    """Since it quotes numbers, Nikto encodes its messages."""
    try:
        return str(json.loads(f'"{message}"', strict=False))
    except ValueError:
        return message
