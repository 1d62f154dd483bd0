"""Removal of credentials from reports: cookies, authorization, passwords, keys and tokens."""

import re

REDACTED = "[redacted]"

_NAMES = (
    r"(?:proxy-)?authorization|(?:set-)?cookie2?|(?:x-)?api-?key"
    r"|(?:x-)?(?:access|auth|csrf|xsrf|session)-token"
)
_NAMED = re.compile("authorization|cookie|api-?key|-token", re.IGNORECASE)  # a part of each of the names
# A header in a raw message, with its continuation lines; also behind the marks of "curl -v".
_HEADER = re.compile(
    rf"((?:^|\\n)[<>*| \t]*(?:{_NAMES})[ \t]*:).*(?:\n[ \t].*)*",
    re.IGNORECASE | re.MULTILINE,
)
# The same header as a member of a JSON object, as services answer that echo a request.
_MEMBER = re.compile(
    rf"""(["'](?:{_NAMES})["']\s*:\s*)"""
    r"""(?:"(?:\\.|[^"\\])*(?:"|\Z)|'(?:\\.|[^'\\])*(?:'|\Z)|\[[^\]]*(?:\]|\Z))""",
    re.IGNORECASE | re.DOTALL,
)
# The user name and password in an address.
_USERINFO = re.compile(r"""(?<=://)[^/\s@'"]+@""")
# A key or token in a query or form. A payload has other characters, and stays.
_PARAMETER = re.compile(
    r"([?&](?:(?:access|auth|csrf|id|refresh|session)[_-]?)?(?:token|secret|password|passwd|api[_-]?key|jwt)=)"
    r"""[\w.~+/-]{6,}=*(?=[&#\s"'<>\\]|\Z)""",
    re.IGNORECASE | re.ASCII,
)

_SHELL_WORD = re.compile(
    r"""(?:'[^']*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\Z)|\\.|[^\s'"\\])+""",
    re.DOTALL,
)
_OPTION = re.compile(
    r"(-[HbuU]|--(?:header|proxy-header|cookie|user|proxy-user|oauth2-bearer)(?==|\Z))=?(.*)", re.DOTALL
)
_HEADER_OPTIONS = {"-H", "--header", "--proxy-header"}
_HEADER_WORD = re.compile(rf"""\$?["']?\s*({_NAMES})\s*:""", re.IGNORECASE)


def redact_headers(text: str) -> str:
    """Return ``text`` without such values of headers and parameters, and without user names in addresses."""
    if _NAMED.search(text):
        text = _MEMBER.sub(rf'\1"{REDACTED}"', _HEADER.sub(rf"\1 {REDACTED}", text))
    return redact_addresses(text)


def redact_addresses(text: str) -> str:
    """Return ``text`` without the user names, passwords, keys and tokens in addresses."""
    text = _PARAMETER.sub(rf"\1{REDACTED}", text) if "=" in text else text
    return _USERINFO.sub(f"{REDACTED}@", text) if "@" in text else text


def redact_command(command: str) -> str:
    """Return a curl command without cookies, passwords and the values of such headers."""
    pending = ""

    def redacted(match: re.Match[str]) -> str:
        nonlocal pending
        word, option, value = match[0], pending, match[0]
        pending = ""
        if not option:
            named = _OPTION.match(word)
            if named is None:
                return word
            option, value = named.groups()
            if not value:
                pending = option
                return word
        return word.removesuffix(value) + _redacted_value(option, value)

    return _SHELL_WORD.sub(redacted, command)


def _redacted_value(option: str, value: str) -> str:
    if option not in _HEADER_OPTIONS:
        return f"'{REDACTED}'"
    header = _HEADER_WORD.match(value)
    return f"'{header[1]}: {REDACTED}'" if header else value
