"""What SARIF's results refer to in their run: rules, messages, artifacts and addresses."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote, unquote

from dashboard_api.scanners.addresses import resolved
from dashboard_api.scanners.lazy_list import Items
from dashboard_api.scanners.members import Row, line_of, list_of, object_of, text_of

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\d{1,4})\}")
_LINK_TO_LOCATION = re.compile(r"\[([^\][]*)\]\(\d+\)")
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE | re.ASCII)
_FILE = "file:"
_SAFE = "/!$&'()*+,;=:@"  # not quoted in a path
_MAX_BASES = 10
# The last part of an automationDetails.id where it names the run itself: nothing, a number, a date, a GUID.
_RUN_NAME = re.compile(r"(?:/|\A)(?:(?=.*\d)[0-9a-fTZ.:_-]+)?\Z", re.IGNORECASE)


class Run:
    """One run of one tool."""

    def __init__(self, run: Row) -> None:
        self.members = run
        self.invocations = objects_in_all([run], "invocations")
        self.driver = object_of(object_of(run, "tool"), "driver")
        extensions = [
            each for each in list_of(object_of(run, "tool"), "extensions") if isinstance(each, dict)
        ]
        self._driver_rules = _rules(self.driver)
        self._extension_rules = [_rules(extension) for extension in extensions]
        self._by_id: dict[str, tuple[Sequence[Row], int]] = {}
        for rules in [self._driver_rules, *self._extension_rules]:
            for index, rule in enumerate(rules):
                self._by_id.setdefault(line_of(rule, "id"), (rules, index))
        self._by_id.pop("", None)
        self._roots = sorted(self._source_roots(), key=len, reverse=True)

    @property
    def category(self) -> str:
        """The part of the tool's scans that the run covers: automationDetails.id without the run's name."""
        return _RUN_NAME.sub("", line_of(object_of(self.members, "automationDetails"), "id"))

    @property
    def rule_names(self) -> Iterable[str]:
        """The ids of the rules that the run lists, whether they found something or not."""
        return self._by_id

    def rule_of(self, result: Row) -> Row:
        """The rule that ``result`` breaks: by its id, by the part before a slash, by its index; or none."""
        reference = object_of(result, "rule")
        name = line_of(result, "ruleId") or line_of(reference, "id")
        known = self._by_id.get(name) or self._by_id.get(name.rpartition("/")[0])
        if known is not None:
            rules, index = known
            return rules[index]
        component = object_of(reference, "toolComponent").get("index")
        rules = self._driver_rules
        if isinstance(component, int):
            rules = _item(self._extension_rules, component) or []
        found = _item(rules, result.get("ruleIndex", reference.get("index")))
        return found if isinstance(found, dict) else {}

    def message(self, message: Row, rule: Row) -> str:
        """The text of ``message`` with its arguments; markdown only where there is no text."""
        text = text_of(message.get("text"))
        name = line_of(message, "id")
        for strings in (object_of(rule, "messageStrings"), object_of(self.driver, "globalMessageStrings")):
            text = text or text_in(strings, name)
        text = text or text_of(message.get("markdown"))
        arguments = [text_of(argument) for argument in list_of(message, "arguments")]

        def filled(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0][0]
            return arguments[int(match[1])] if int(match[1]) < len(arguments) else match[0]

        if arguments or "arguments" in message:
            text = _PLACEHOLDER.sub(filled, text)
        return _LINK_TO_LOCATION.sub(r"\1", text)

    def address(self, location: Row) -> str:
        """Return an artifactLocation's address: absolute, or beginning with "./" where no website is named.

        Files are named by their path below the source root.
        """
        if "uri" not in location:
            artifact = _item(list_of(self.members, "artifacts"), location.get("index"))
            location = object_of(artifact, "location") if isinstance(artifact, dict) else {}
        address = line_of(location, "uri")
        bases = object_of(self.members, "originalUriBaseIds")
        for _ in range(_MAX_BASES):
            location = object_of(bases, line_of(location, "uriBaseId"))
            base = line_of(location, "uri")
            if _ABSOLUTE.match(address) or not location or _is_file(base):
                break
            address = resolved(base, address) if _ABSOLUTE.match(base) else base + address
        if _is_file(address):
            return self._below_root(address)
        if _ABSOLUTE.match(address) or address.startswith(("/", "./", "../")):
            return address
        return f"./{address}"

    def _source_roots(self) -> Iterator[str]:
        """Yield the paths of the folders that the run names: its bases, and its working directories."""
        folders = list(object_of(self.members, "originalUriBaseIds").values())
        folders += [each.get("workingDirectory") for each in self.invocations]
        for folder in folders:
            if isinstance(folder, dict) and _is_file(line_of(folder, "uri")):
                yield _path(line_of(folder, "uri")).rstrip("/") + "/"

    def _below_root(self, address: str) -> str:
        """Return a file's path relative to the nearest root above it; its address where there is none."""
        path = _path(address)
        root = next((root for root in self._roots if path.startswith(root)), None)
        return address if root is None else f"./{quote(path[len(root) :], safe=_SAFE)}"


def _is_file(address: str) -> bool:
    return address.lower().startswith(_FILE)


def _path(address: str) -> str:
    """Return the path in a file's address: "/C:/a b" for ``file:///C:/a%20b`` and ``file:/C:/a%20b``."""
    path = unquote(address[len(_FILE) :])
    return re.sub(r"^//(?:localhost)?(?=/)", "", path, flags=re.IGNORECASE)


def _rules(component: Row) -> Sequence[Row]:
    return Items(list_of(component, "rules"), lambda rule: rule if isinstance(rule, dict) else {})


def _item(items: Sequence[Any], index: object) -> Any:
    """The item at ``index``, which may be anything; or None."""
    return items[index] if isinstance(index, int) and 0 <= index < len(items) else None


def text_in(parent: Row, key: str) -> str:
    """A message's plain text; its markdown, as the text it is, where there is none."""
    message = object_of(parent, key)
    return text_of(message.get("text")) or text_of(message.get("markdown"))


def objects_in_all(parents: list[Row], key: str) -> list[Row]:
    """The objects in the lists that the parents have there."""
    return [each for parent in parents for each in list_of(parent, key) if isinstance(each, dict)]
