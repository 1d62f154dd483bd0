"""The rules of a website's robots.txt for our scans (RFC 9309)."""

from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote, unquote, urljoin

from foundation.outbound.fetch import FetchFailed, fetch

_AGENT = "threatdashboard"
_MAX_BYTES = 500 * 1024  # the least that RFC 9309 requires a crawler to read
_MAX_RULES = 1000

Allows = Callable[[str], bool]


def robots_of(url: str, address: str, *, agent: str = "", never: Sequence[str] = ()) -> Allows:
    """Return a function that decides whether a path of the website at ``url`` may be crawled.

    ``address`` is its checked address. Hosts and address prefixes in ``never`` are not contacted. A missing
    file or an unreachable website allows every path; a server error forbids every path.
    """
    try:
        robots = urljoin(url, "/robots.txt")
        found = fetch(robots, max_bytes=_MAX_BYTES, verify=False, agent=agent, pinned=[address], never=never)
    except FetchFailed:
        return lambda _path: True
    if found.status >= 500:
        return lambda _path: False
    return read_robots(found.body.decode("utf-8", "replace") if found.status == 200 else "")


def read_robots(text: str) -> Allows:
    """Return the function for a robots.txt, by its rules for ThreatDashboard, else those for all agents."""
    groups: dict[str, list[tuple[str, bool]]] = {}  # the rules of our agent and of "*"
    agents: set[str] = set()  # of the current group
    is_in_names = False  # whether the line before named an agent, so that a further one joins its group
    for name, value in _lines(text):
        if name == "user-agent":
            agents = agents if is_in_names else set()
            is_in_names = True
            if value.lower() in (_AGENT, "*"):
                agents.add(value.lower())
                groups.setdefault(value.lower(), [])
        elif name in ("allow", "disallow"):
            is_in_names = False
            for agent in agents:
                if value and len(groups[agent]) < _MAX_RULES:
                    groups[agent].append((value, name == "allow"))
    rules = groups.get(_AGENT, groups.get("*", []))  # each a path, and whether it is allowed
    # The longest matching rule decides; "allow" wins a tie.
    ordered = sorted(rules, key=lambda rule: (len(rule[0]), rule[1]), reverse=True)
    patterns = [  # the parts between "*", whether "$" ends the pattern, and whether it allows
        ([_one_spelling(part) for part in path.removesuffix("$").split("*")], path.endswith("$"), allowed)
        for path, allowed in ordered
    ]

    def allows(path: str) -> bool:
        path = _one_spelling(path)
        return next((allowed for parts, is_end, allowed in patterns if _matches(path, parts, is_end)), True)

    return allows


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.removeprefix("\ufeff").splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def _matches(path: str, parts: Sequence[str], is_end: bool) -> bool:
    """Return whether the path begins with the first part and has the others after it, in order.

    A regular expression would backtrack for hours on a hostile rule.
    """
    first, *others = parts
    if not path.startswith(first):
        return False
    last = others.pop() if is_end and others else None
    place = len(first)
    for part in others:
        place = path.find(part, place)
        if place < 0:
            return False
        place += len(part)
    if last is not None:
        return path.endswith(last) and len(path) - len(last) >= place
    return not is_end or place == len(path)


def _one_spelling(path: str) -> str:
    """Return the path with one spelling of its escaped characters."""
    return quote(unquote(path), safe="/?&=;,:@!$'()*+[]")
