"""Cleaning and layout of report texts, and the CWE and CVE names in them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from foundation.texts.markup import text_of_html

# URI schemes with a host. In docker://a and s3://a, the name is an image or a store.
NETWORK_SCHEME = "(?:https?|wss?|ftps?|ldaps?|ssh|tcp|udp|tls|ssl)"

_ANSI_SEQUENCE = r"\x1b\[[0-?]*[ -/]*[@-~]"
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"
_BIDI_OVERRIDE = "[\u202a-\u202e\u2066-\u2069]"
_UNWANTED = re.compile(f"{_ANSI_SEQUENCE}|{_CONTROL}|{_BIDI_OVERRIDE}")
_SURROGATE = re.compile("[\ud800-\udfff]")

# Tags of formatting, which are dropped. Tags in _BREAK start a new line.
_FORMATTING = "p|br|hr|ul|ol|li|div|span|b|i|u|em|strong|code|pre|tt|a|h[1-6]|table|tbody|thead|tr|td|th|font"
_BREAK = re.compile(r"</?(?:p|br|hr|ul|ol|li|div|pre|h[1-6]|table|tr)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{_FORMATTING})(?:\s[^<>]*)?/?>", re.IGNORECASE)

_LINK = re.compile(r"""\shref\s*=\s*["']([^"'<>\s]{1,2000})["']""", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")

# CWE numbers have at most six digits; zeros before them do not count.
_NUMBER = re.compile(r"(?<!\d)0*([1-9]\d{0,5})(?!\d)", re.ASCII)
_CWE = re.compile(r"cwe[-_:/ ]*0*([1-9]\d{0,5})(?!\d)", re.ASCII | re.IGNORECASE)
_CVE = re.compile(r"CVE-\d{4}-\d{4,19}", re.ASCII)


def clean(text: str) -> str:
    """Return ``text`` safe to encode and show: only line breaks and tabs remain of control characters."""
    if text.isprintable():  # the usual case
        return text.strip()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATE.sub("\ufffd", _UNWANTED.sub("", text)).strip()


def one_line(text: str) -> str:
    """Return the cleaned text on one line, with single spaces."""
    return " ".join(clean(text).split())


def host_and_port(host: str, port: str = "") -> str:
    """Return "host" or "host:port", with an IPv6 address in brackets."""
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{host}:{port}" if port else host


def scheme_at(port: str, service: str) -> str:
    """Return the URL scheme for port 443 or 80; empty for other ports and services that are not web."""
    is_unknown = service.endswith("?") or service in ("", "general", "unknown", "tcpwrapped")
    is_web = is_unknown or service.startswith(("http", "www", "ssl"))
    return {"443": "https://", "80": "http://"}.get(port, "") if is_web else ""


def within_bytes(text: str, limit: int) -> str:
    """Return the start of ``text`` that fits into ``limit`` bytes of UTF-8."""
    if 4 * len(text) <= limit:  # a character takes at most four bytes
        return text
    # The first slice saves work, the second one may cut a character, which decode() then drops.
    return text[:limit].encode()[:limit].decode(errors="ignore")


def without_numbers(text: str) -> str:
    """Mask numbers, so that counts, times and versions do not change an identity."""
    return re.sub(r"\d+", "#", text)[:200].strip()


def slug(name: str) -> str:
    """Return ``name`` as up to 50 ASCII letters, digits and hyphens; may be empty."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:50].rstrip("-")


def checked_source_name(name: str, source: str) -> str:
    """Return ``name`` if it spells ``source`` in the same letters and digits, else ``source``.

    The first report of a source names it for every account, so the name must not carry any other message.
    """
    letters = "".join(each for each in unicodedata.normalize("NFKD", name) if each.isalnum())
    return name if letters.lower() == source.replace("-", "") else source


def plain_text(markup: str) -> str:
    """Strip formatting HTML and blank lines; start a line for each block.

    Keep other markup, such as a quoted payload: pages escape it.
    """
    lines = _TAG.sub("", _BREAK.sub("\n", markup)).split("\n")
    return "\n".join(line.rstrip() for line in lines if line.strip())


def html_text(markup: str) -> str:
    """Strip formatting as ``plain_text`` does, then unescape: the source escaped all other markup."""
    return text_of_html(plain_text(markup))


def links_in(markup: str) -> list[str]:
    """Return the link targets in the HTML; the last item is its text, which may contain more addresses."""
    return [*_LINK.findall(markup), _ANY_TAG.sub(" ", markup)]


def labelled_lines(values: Mapping[str, str]) -> Iterator[str]:
    """Yield one paragraph of "name: value" lines for the values that are not empty, if there are any."""
    if any(values.values()):
        yield "\n".join(f"{name}: {value}" for name, value in values.items() if value)


def section(name: str, text: str) -> Iterator[str]:
    """Yield a paragraph with a heading, unless ``text`` is blank."""
    if text.strip():
        yield f"{name}:\n{text.strip()}"


def numbers_in(texts: Iterable[str]) -> list[int]:
    """Return the CWE numbers in texts of CWE numbers only, such as "CWE-79" or "79, 80"."""
    return [int(digits) for text in texts for digits in _NUMBER.findall(text)]


def cwes_in(texts: Iterable[str]) -> list[int]:
    """Return the numbers after "CWE" anywhere in the texts, such as "external/cwe/cwe-079"."""
    return [int(digits) for text in texts for digits in _CWE.findall(text)]


def cves_in(texts: Iterable[str]) -> list[str]:
    """Return the CVE names anywhere in the texts, in upper case."""
    return [name for text in texts for name in _CVE.findall(text.upper())]
