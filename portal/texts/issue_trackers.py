"""Issue trackers: addresses of projects, and links to a new issue with title and text filled in."""

import re
from collections.abc import Callable
from urllib.parse import SplitResult, parse_qs, quote, urlencode, urlsplit

NAMES = {"github": "GitHub", "gitlab": "GitLab", "jira": "Jira"}
MAX_ADDRESS_LENGTH = 500
# Web servers refuse longer URLs, and a sign-in in between encodes the URL a second time.
MAX_ISSUE_URL_LENGTH = 5_000
MAX_TITLE_LENGTH = 200

_ADDRESS = re.compile(r"https://[!-~]+", re.ASCII | re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", re.ASCII)
_JIRA_FORM = "/secure/CreateIssueDetails!init.jspa"


class InvalidAddress(ValueError):
    """The address does not belong to a project in this tracker."""


def recognised_kind(address: str) -> str:
    """Guess the kind of tracker from host and path; empty if unknown."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    labels = (parts.hostname or "").split(".")
    if labels[-2:] == ["atlassian", "net"] or "jira" in labels or "/secure/" in parts.path:
        return "jira"
    return next((kind for kind in ("github", "gitlab") if kind in labels), "")


def normalise(kind: str, address: str) -> str:
    """Return a project's address in the form to store; raises InvalidAddress."""
    parts = _https_parts(address)
    origin = f"https://{parts.netloc.lower()}"
    return origin + _NORMALISERS[kind](parts)


def new_issue_url(kind: str, address: str, *, title: str, body: str) -> tuple[str, bool]:
    """Return the link to a new issue, and whether its text was cut.

    ``address`` must come from ``normalise``.
    """
    path, title_field, body_field = _NEW_ISSUE[kind]
    begin = (
        f"{address}{path}{quote(title_field)}={quote(title[:MAX_TITLE_LENGTH], safe='')}&{quote(body_field)}="
    )
    kept = cut_to_length(body, MAX_ISSUE_URL_LENGTH - len(begin))
    return begin + quote(kept, safe=""), kept != body


def cut_to_length(text: str, length: int) -> str:
    """Cut ``text`` to at most ``length`` characters once quoted for a URL, ending with an ellipsis."""
    if len(quote(text, safe="")) <= length:
        return text
    left = length - len(quote("…"))
    end = 0
    for character in text:
        left -= len(quote(character, safe=""))
        if left < 0:
            break
        end += 1
    return f"{text[:end].rstrip()}…"


def _https_parts(address: str) -> SplitResult:
    """Split an https address with a plain host; raises InvalidAddress."""
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - reading the port validates it
    except ValueError as error:
        raise InvalidAddress from error
    is_plain = _ADDRESS.fullmatch(address) and len(address) <= MAX_ADDRESS_LENGTH and "\\" not in address
    has_plain_host = _HOST.fullmatch((parts.hostname or "").lower()) and "@" not in parts.netloc
    if not is_plain or not has_plain_host:
        raise InvalidAddress
    return parts


def _github_path(parts: SplitResult) -> str:
    names = _names(parts.path)
    if len(names) < 2:
        raise InvalidAddress
    return f"/{names[0]}/{names[1].removesuffix('.git')}"


def _gitlab_path(parts: SplitResult) -> str:
    names = _names(parts.path.partition("/-/")[0])
    if names[2:] and names[-1] == "issues":
        names.pop()
    if len(names) < 2:
        raise InvalidAddress
    return "/" + "/".join(names).removesuffix(".git")


def _jira_path(parts: SplitResult) -> str:
    """Return the path of Jira's form for a new issue, which needs a project (``pid``) and a type."""
    fields = parse_qs(parts.query)
    numbers = {name: fields.get(name, [""])[0] for name in ("pid", "issuetype")}
    if not all(re.fullmatch(r"[0-9]{1,18}", number, re.ASCII) for number in numbers.values()):
        raise InvalidAddress
    context, is_form, _ = parts.path.partition("/secure/")
    prefix = "".join(f"/{name}" for name in _names(context)) if is_form else ""
    return f"{prefix}{_JIRA_FORM}?{urlencode(numbers)}"


def _names(path: str) -> list[str]:
    names = [name for name in path.split("/") if name]
    if any(not re.fullmatch(r"[A-Za-z0-9._~-]+", name, re.ASCII) or name in (".", "..") for name in names):
        raise InvalidAddress
    return names


_NORMALISERS: dict[str, Callable[[SplitResult], str]] = {
    "github": _github_path,
    "gitlab": _gitlab_path,
    "jira": _jira_path,
}
# Text after the address, and the names of the fields for title and body.
_NEW_ISSUE = {
    "github": ("/issues/new?", "title", "body"),
    "gitlab": ("/-/issues/new?", "issue[title]", "issue[description]"),
    "jira": ("&", "summary", "description"),
}
