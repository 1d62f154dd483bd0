"""Run of a SARIF file: rules, messages, artifacts and base addresses that its results refer to."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote

from dashboard_api import limits
from dashboard_api.scanners.lazy_list import LazyList
from dashboard_api.scanners.members import (
    JsonObject,
    address_in,
    dicts_at,
    line_at,
    list_at,
    object_at,
    text_of,
    texts_of,
)
from dashboard_api.scanners.report import REFERENCE_LENGTH
from dashboard_api.scanners.text import NETWORK_SCHEME

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\d{1,4})\}")  # "{0}"; doubled braces stand for themselves
_LINK_TO_LOCATION = re.compile(r"\[([^\][]*)\]\(\d+\)")  # "[text](1)"
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE | re.ASCII)
# An address with a host. docker://a, pkg:npm/a and the image "python:3" have no host.
_NAMES_HOST = re.compile(rf"{NETWORK_SCHEME}:|[\w-]+(?:\.[\w-]+)+:\d{{1,5}}\Z", re.IGNORECASE | re.ASCII)
_DRIVE = re.compile(r"[a-z]:[\\/]", re.IGNORECASE)  # "C:\"
_FILE = "file:"
_SAFE = "/!$&'()*+,;=:@"  # a path may contain these unquoted
_MAX_BASES = 10  # of an address: a base may be relative to another one
_MAX_ROOTS = 100  # folders of the run
_MAX_OLD_NAMES = 5  # of a rule
_MAX_MESSAGE = limits.MAX_STORED_EVIDENCE_BYTES  # characters
_MAX_ARGUMENTS = 1_000  # of a message
# A last part of automationDetails.id that names the run: empty, a number, a date or a GUID.
_RUN_NAME = re.compile(r"(?:(?=.*\d)[0-9a-fTZ.:_-]+)?", re.IGNORECASE)


class Run:
    """Run of one tool, with its rules indexed by id."""

    def __init__(self, run: JsonObject) -> None:
        self.members = run
        self.invocations = dicts_at(run, "invocations")
        self.driver = object_at(object_at(run, "tool"), "driver")
        extensions = dicts_at(object_at(run, "tool"), "extensions")
        self._driver_rules = _rules(self.driver)
        self._extension_rules = [_rules(extension) for extension in extensions]
        self._by_id: dict[str, tuple[Sequence[JsonObject], int]] = {}  # rules with the index
        for rules in [self._driver_rules, *self._extension_rules]:
            for index, rule in enumerate(rules):
                self._by_id.setdefault(line_at(rule, "id"), (rules, index))
        self._by_id.pop("", None)  # rules without an id
        self._roots = sorted(islice(self._source_roots(), _MAX_ROOTS), key=len, reverse=True)
        self._bases = dict(self._named_bases())

    @property
    def category(self) -> str:
        """The covered part of the tool's scans: ``automationDetails.id`` without the name of the run."""
        identity = line_at(object_at(self.members, "automationDetails"), "id")
        parts, _, last = identity.rpartition("/")
        return parts if _RUN_NAME.fullmatch(last) else identity

    @property
    def rule_names(self) -> Iterable[str]:
        """The ids of all rules that the run lists, even without results."""
        return self._by_id

    @property
    def old_rule_names(self) -> Iterable[str]:
        """The former ids of the run's rules, from earlier versions of the tool."""
        return (old for rules, index in self._by_id.values() for old in old_names(rules[index]))

    def rule_of(self, result: JsonObject) -> JsonObject:
        """Return the rule of ``result`` by id, id before the last slash, or index; empty if unknown."""
        reference = object_at(result, "rule")
        name = line_at(result, "ruleId") or line_at(reference, "id")
        if position := self._by_id.get(name) or self._by_id.get(name.rpartition("/")[0]):
            rules, index = position
            return rules[index]
        # By index, among the rules of an extension or else of the driver.
        component = object_at(reference, "toolComponent").get("index")
        rules = self._driver_rules
        if isinstance(component, int):
            rules = _item(self._extension_rules, component) or []
        rule = _item(rules, result.get("ruleIndex", reference.get("index")))
        return rule if isinstance(rule, dict) else {}

    def message(self, message: JsonObject, rule: JsonObject) -> str:
        """Return the text of ``message``, or else its markdown, with the arguments filled in."""
        text = text_of(message.get("text"))
        name = line_at(message, "id")
        for strings in (object_at(rule, "messageStrings"), object_at(self.driver, "globalMessageStrings")):
            text = text or message_text_at(strings, name)
        text = text or text_of(message.get("markdown"))
        text = text[:_MAX_MESSAGE]
        if "arguments" in message:
            text = _filled(text, list_at(message, "arguments")[:_MAX_ARGUMENTS])
        return _LINK_TO_LOCATION.sub(r"\1", text)

    def address(self, location: JsonObject) -> str:
        """Return the address of an artifactLocation: absolute, or relative with a leading dot or slash.

        A file becomes its path below the source root. The name of an image or package becomes a path.
        """
        if "uri" not in location:
            artifact = _item(list_at(self.members, "artifacts"), location.get("index"))
            location = object_at(artifact, "location") if isinstance(artifact, dict) else {}
        address = line_at(location, "uri")
        name = line_at(location, "uriBaseId")
        for _ in range(_MAX_BASES):
            if name not in self._bases or _ABSOLUTE.match(address):
                break
            base, name = self._bases[name]
            if _is_file(base):
                break
            address = address_in(base, address) if _ABSOLUTE.match(base) else base + address
        if _DRIVE.match(address):
            address = "file:///" + address.replace("\\", "/")
        if _is_file(address):
            return self._below_root(address)
        if _NAMES_HOST.match(address) or address.startswith(("/", "./", "../")):
            return address
        return f"./{quote(address, safe=_SAFE + '%') if _ABSOLUTE.match(address) else address}"

    def _named_bases(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield the name of each base address with the address and the name of its own base."""
        for name, location in object_at(self.members, "originalUriBaseIds").items():
            if isinstance(location, dict) and location:
                address = line_at(location, "uri")[:REFERENCE_LENGTH]
                yield name, (address, line_at(location, "uriBaseId"))

    def _source_roots(self) -> Iterator[str]:
        """Yield the paths of the run's base and working directories."""
        folders = list(object_at(self.members, "originalUriBaseIds").values())
        folders += [each.get("workingDirectory") for each in self.invocations]
        for folder in folders:
            if isinstance(folder, dict) and _is_file(line_at(folder, "uri")):
                yield _path(line_at(folder, "uri")).rstrip("/") + "/"

    def _below_root(self, address: str) -> str:
        """Return a file's path relative to the nearest root above it, or else its address."""
        path = _path(address)
        root = next((root for root in self._roots if path.startswith(root)), None)
        return address if root is None else f"./{quote(path[len(root) :], safe=_SAFE)}"


def _filled(text: str, arguments: Sequence[Any]) -> str:
    """Fill in the arguments, up to the stored length: a text may repeat an argument many times."""
    texts = [text_of(argument) for argument in arguments]
    room = _MAX_MESSAGE

    def fill(match: re.Match[str]) -> str:
        nonlocal room
        if match[1] is None:
            return match[0][0]  # one of the doubled braces
        if int(match[1]) >= len(texts):
            return match[0]
        argument = texts[int(match[1])][:room]
        room -= len(argument)
        return argument

    return _PLACEHOLDER.sub(fill, text)


def _is_file(address: str) -> bool:
    return address.lower().startswith(_FILE)


def _path(address: str) -> str:
    """Return the path of a file's address: "/C:/a b" for ``file:///C:/a%20b`` or ``file:/C:/a%20b``."""
    path = unquote(address[len(_FILE) :])
    return re.sub(r"^//(?:localhost)?(?=/)", "", path, flags=re.IGNORECASE)


def _rules(component: JsonObject) -> Sequence[JsonObject]:
    return LazyList(list_at(component, "rules"), lambda rule: rule if isinstance(rule, dict) else {})


def _item(items: Sequence[Any], index: object) -> Any:
    """Return the item at ``index``, if that is a valid index."""
    return items[index] if isinstance(index, int) and 0 <= index < len(items) else None


def message_text_at(parent: JsonObject, key: str) -> str:
    """Return the plain text of the message at ``key``, or else its markdown."""
    message = object_at(parent, key)
    return text_of(message.get("text")) or text_of(message.get("markdown"))


def old_names(rule: JsonObject) -> list[str]:
    """Return the former ids of ``rule``, from earlier versions of the tool."""
    return texts_of(list_at(rule, "deprecatedIds")[:_MAX_OLD_NAMES])


def dicts_at_all(parents: list[JsonObject], key: str) -> list[JsonObject]:
    """Return the objects in the lists at ``key`` of all ``parents``."""
    return [item for parent in parents for item in dicts_at(parent, key)]
