"""Parser of Nikto's reports up to version 2.5, which are almost JSON.

The first versions write trailing commas and unquoted numbers. Later ones write no comma between hosts, and
put early items before their host. All leave quotes in addresses unescaped. This module reads exactly what
their ``nikto_report_json.plugin`` prints. The next character decides every repetition, so no input is slow.
"""

import json
import re
from collections.abc import Iterator

from dashboard_api.scanners.members import JsonObject

# What follows the message of an item: the next item or host, or the end of the host's items.
_END_OF_ITEM = r'\},?(?:\{"(?:id":\s*"?\d|host":")|\](?:[,}\s]*\{"host":"|[,}\]\s]*\Z))'
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


def read_almost_json(data: bytes | bytearray) -> list[JsonObject]:
    """Return the hosts with their items, as decoded JSON; empty if the text has any other part."""
    text = data.decode(errors="replace")
    hosts: list[JsonObject] = []
    first = len(text) - len(text.lstrip("[ \t\r\n"))
    early_items, position = _items(text, first)
    while host := _HOST.match(text, position):
        items, position = _items(text, host.end())
        items = [*early_items, *items]
        early_items = []
        end = _END_OF_HOST.match(text, position)
        if end is None:
            return []
        position = end.end()
        banner = host["banner"].replace('\\"', '"')
        hosts.append(host.groupdict() | {"banner": banner, "vulnerabilities": items})
    return hosts if position == len(text) else []


def _items(text: str, position: int) -> tuple[list[JsonObject], int]:
    """Return the items from ``position`` on, and the position after them."""
    items = []
    while item := _ITEM.match(text, position):
        items.append(dict(_members(item)))
        position = item.end()
    return items, position


def _members(item: re.Match[str]) -> Iterator[tuple[str, str]]:
    for name, value in item.groupdict().items():
        if value is not None and name not in ("quote", "msg"):
            yield name, value
    yield "msg", _decode_message(item["msg"]) if item["quote"] else item["msg"]


def _decode_message(message: str) -> str:
    """Decode a message of the versions that quote numbers: they also escape messages."""
    try:
        return str(json.loads(f'"{message}"', strict=False))
    except ValueError:
        return message
