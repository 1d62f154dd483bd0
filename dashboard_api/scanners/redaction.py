"""Redaction of credentials in reports: cookies, authorization, passwords, keys and tokens."""

import re

REDACTED = "[redacted]"

# Names of headers with credentials.
_NAMES = (
    r"(?:proxy-)?authorization|(?:set-)?cookie2?|(?:x-)?api-?key"
    r"|(?:x-)?(?:access|auth|csrf|xsrf|session)-token"
)
# Every name contains one of these, which are faster to find.
_MAY_NAME_HEADER = re.compile("authorization|cookie|api-?key|-token", re.IGNORECASE)
# A header in a raw message with its continuation lines, also after the marks that "curl -v" prints.
_HEADER = re.compile(
    rf"((?:^|\\n)[<>*| \t]*(?:{_NAMES})[ \t]*:).*(?:\n[ \t].*)*",
    re.IGNORECASE | re.MULTILINE,
)
# The same header as a JSON member: some services echo the request as JSON.
_MEMBER = re.compile(
    rf"""(["'](?:{_NAMES})["']\s*:\s*)"""
    r"""(?:"(?:\\.|[^"\\])*(?:"|\Z)|'(?:\\.|[^'\\])*(?:'|\Z)|\[[^\]]*(?:\]|\Z))""",
    re.IGNORECASE | re.DOTALL,
)
# User name and password in an address, even with unencoded characters in the password; not a port.
_USERINFO = re.compile(
    r"""(?<=://)(?:[^/\s@'":?#\[]+:(?!\d{0,5}(?:[^\w@%!$*+.~-]|\Z))[^\s"<>@]{0,256}@(?:[^\s"'<>?#@]{0,256}@)*"""
    r"""|[^/\s@'"]+@)"""
)
# Names of parameters and members with secret values. Each contains one of _CONFIDENTIAL_PARTS.
_CONFIDENTIAL = (
    r"[\w.%\[\]-]{0,40}?(?:token|secret|password|passwd|passphrase|(?<![a-z0-9])pass|pwd|jwt"
    r"|(?:api|access|private)[_-]?key|sess(?:ion)?[_-]?id)"
)
_CONFIDENTIAL_PARTS = ("token", "secret", "pass", "pwd", "jwt", "key", "sess")
# Keep payloads readable that scanners send as such values: injections, file paths and addresses.
_NO_PAYLOAD = (
    r"""(?![^&#?\s"'<>]*(?:(?:\+|%20)(?:and|or|union|select|order|having|waitfor)(?:\+|%20)"""
    r"""|\.\.(?:/|%2f|%5c)|://|%3a%2f%2f))"""
)
# A parameter of an address or form, with a value of six or more characters. The value has no encoded control
# character, quote or bracket, which payloads have.
_PARAMETER = re.compile(
    rf"""((?:^|[?&#"']){_CONFIDENTIAL}(?:\]|%5d)?=){_NO_PAYLOAD}"""
    r"""(?:[\w.~+/!$*:,@-]|%(?!(?:25)*(?:0[0-9a-f]|2[2789]|3[bce]|5c|60|7[bcd]))[0-9a-f]{2}){6,}=*"""
    r"""(?=[&#\s"'<>\\]|\Z)""",
    re.IGNORECASE | re.MULTILINE,
)
# The same as a member of JSON; group 2 is the quote, which may be escaped.
_CONFIDENTIAL_MEMBER = re.compile(
    rf"""((\\?["']){_CONFIDENTIAL}\2\s{{0,9}}:\s{{0,9}}\2){_NO_PAYLOAD}"""
    r"""(?:[^"'\\<>();`{}|\n]|\\(?!u00(?:2[27]|3[ce]))[^"'\n]){6,}(?=\2)""",
    re.IGNORECASE,
)

_SESSION_IN_PATH = re.compile(r"(;jsessionid=)[^\s/;?#&\"'<>()\[\]\\]+", re.IGNORECASE)

# A word with quoted parts and escaped characters; a quote may lack its end.
_SHELL_WORD = re.compile(
    r"""(?:'[^']*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\Z)|\\.|[^\s'"\\])+""",
    re.DOTALL,
)
# An option of curl with its value, which is empty if it is the next word.
_OPTION = re.compile(
    r"(-[HbuU]|--(?:header|proxy-header|cookie|user|proxy-user|oauth2-bearer)(?==|\Z))=?(.*)", re.DOTALL
)
_HEADER_OPTIONS = {"-H", "--header", "--proxy-header"}
# The start of a header as a shell word, which may be quoted, also as in $'...'.
_HEADER_WORD = re.compile(rf"""\$?["']?\s*({_NAMES})\s*:""", re.IGNORECASE)


def redact_headers(text: str) -> str:
    """Redact credentials in headers, parameters and addresses."""
    if _MAY_NAME_HEADER.search(text):
        text = _MEMBER.sub(rf'\1"{REDACTED}"', _HEADER.sub(rf"\1 {REDACTED}", text))
    return redact_addresses(text)


def redact_addresses(text: str) -> str:
    """Redact user names, passwords, keys and tokens in addresses."""
    lowered = text.lower()
    if any(part in lowered for part in _CONFIDENTIAL_PARTS):
        text = _CONFIDENTIAL_MEMBER.sub(rf"\1{REDACTED}", _PARAMETER.sub(rf"\1{REDACTED}", text))
        text = _SESSION_IN_PATH.sub(rf"\1{REDACTED}", text)
    return _USERINFO.sub(f"{REDACTED}@", text) if "@" in text else text


def redact_command(command: str) -> str:
    """Redact cookies, passwords and confidential headers in a curl command."""
    option_before = ""  # the last word, if it is an option without a value

    def redacted(match: re.Match[str]) -> str:
        nonlocal option_before
        word, option, value = match[0], option_before, match[0]
        option_before = ""
        if not option:
            option_match = _OPTION.match(word)
            if option_match is None:
                return word
            option, value = option_match.groups()
            if not value:
                option_before = option
                return word
        return word.removesuffix(value) + _redacted_value(option, value)

    return _SHELL_WORD.sub(redacted, command)


def _redacted_value(option: str, value: str) -> str:
    if option not in _HEADER_OPTIONS:
        return f"'{REDACTED}'"
    header = _HEADER_WORD.match(value)
    return f"'{header[1]}: {REDACTED}'" if header else value
