"""The search for a claim's token on its website, in a file or a meta tag; ``dns`` searches in DNS."""

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from dashboard_api.models import OwnershipClaim
from dashboard_api.ownership.advice import advice_for
from dashboard_api.ownership.claims import Verdict
from dashboard_api.ownership.markup import is_markup, title_of, verification_tags
from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.fetch import SECONDS, Fetched, FetchFailed, Hop, fetch
from foundation.outbound.refusals import MAX_BYTES, is_refusal
from foundation.outbound.tls import HandshakeRefused, NotConnected, shake_hands
from foundation.texts.markup import text_of_page

FILE_PATH = "/.well-known/threat-dashboard-challenge.txt"
META_NAME = "threat-dashboard-verification"
# Of a result: how many texts were found, and characters of each text and URL.
_MAX_FOUND, _MAX_TEXT, _MAX_URL = 5, 100, 200

_NO_ANSWER = {"connect_failed", "timed_out", "tls_invalid"}  # outcomes without a response
# Outcomes after which the token may still be in its place.
_NOT_ASKED = _NO_ANSWER | {"blocked", "servers_silent", "unreadable"}
# These reasons share an outcome, and so the advice to the owner, with another one.
_OUTCOMES = {
    "broken_response": "connect_failed",
    "wrong_url": "private_address",
    "redirect_loop": "status",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of a look in one place: what was expected, what was found where, and what to do."""

    outcome: str
    verdict: Verdict
    expected: str
    found: tuple[str, ...] = ()  # at most 5 texts of 100 characters
    asked: tuple[str, ...] = ()  # URLs, each with the address of its server
    advice: str = ""  # in English, and marked for translation
    strength: str = ""  # of the proof


class _Reading(NamedTuple):
    """The outcome of a request."""

    outcome: str
    found: Sequence[str] = ()
    response: Fetched | None = None
    tried: Sequence[str] = ()  # the addresses of the host, if the first request failed
    is_certain: bool = True  # false if the proof may be in a place that could not be read

    @property
    def strength(self) -> str:
        """The strength of the proof: https if every hop used https, so with a valid certificate."""
        hops = self.response.hops if self.response else ()
        is_safe = all(hop.url.startswith("https://") for hop in hops)
        return OwnershipClaim.Strength.HTTPS if is_safe else OwnershipClaim.Strength.HTTP


class _Place(NamedTuple):
    """A place for the proof: its path, how much of it is read, and the function that reads it."""

    path: str
    max_bytes: int
    read: Callable[[Fetched, str], tuple[str, list[str]]]
    expected: str = "%s"  # what the owner puts there; %s is the token


def check(
    host: str,
    token: str,
    method: str,
    *,
    now: datetime,
    deadline: Deadline | None = None,
    tls: ssl.SSLContext | None = None,
) -> CheckResult:
    """Look for the token of a claim to ``host`` by the method ``file`` or ``meta``.

    The check ends at ``deadline``, or after 12 seconds; ``tls`` can trust other authorities.
    """
    look = _Look(host, token, _PLACES[method], now, deadline or Deadline(SECONDS), tls)
    reading = look.read()
    outcome = reading.outcome
    is_found = outcome == "found"
    strength = reading.strength if is_found else ""
    return CheckResult(
        outcome=outcome,
        verdict=Verdict.FOUND if is_found else _verdict(reading),
        expected=_PLACES[method].expected % token,
        found=shown_texts(reading.found),
        asked=tuple(look.asked),
        advice=advice_for(method, outcome, strength),
        strength=strength,
    )


def _verdict(reading: _Reading) -> Verdict:
    """Return MISSING if the token is certainly missing, NOT_ASKED after an error or without certainty."""
    is_in_trouble = reading.response is not None and reading.response.status >= 500
    is_unclear = is_in_trouble or not reading.is_certain or reading.outcome in _NOT_ASKED
    return Verdict.NOT_ASKED if is_unclear else Verdict.MISSING


class _Look:
    """One look in one place: several requests with one deadline."""

    def __init__(
        self,
        host: str,
        token: str,
        place: _Place,
        now: datetime,
        deadline: Deadline,
        tls: ssl.SSLContext | None,
    ) -> None:
        self._host, self._netloc = host, f"[{host}]" if ":" in host else host
        self._token, self._place, self._now, self._tls = token, place, now, tls
        self._deadline = deadline
        self.asked: list[str] = []

    def read(self) -> _Reading:
        """Return the reading over https, or over http if https fails or has no valid certificate.

        Https without a valid certificate is no proof: it may show another website on the same server. Only
        redirects from http to it are followed.
        """
        reading = self._ask("https")
        if reading.outcome not in ("connect_failed", "tls_invalid"):
            return reading
        plain = self._ask("http")
        if plain.outcome == "found" or reading.outcome == "connect_failed":
            return plain
        texts = [("https", text) for text in reading.found] + [("http", text) for text in plain.found]
        found = [f"{scheme}: {text}" for scheme, text in texts if text.strip()]
        if plain.outcome in _NO_ANSWER:
            return reading._replace(found=found)
        # From here on, http answers without the token, and https has no valid certificate.
        if not self._is_own_https(reading.tried):
            return plain._replace(found=found)
        if plain.outcome in ("not_found", "status"):  # the website may answer only by https
            return reading._replace(found=found)
        return plain._replace(found=found, is_certain=False)

    def _is_own_https(self, tried: Sequence[str]) -> bool:
        """Return False if https has no certificate for the host; True also if that is unknown."""
        if not tried:  # unknown, such as after a redirect
            return True
        try:
            return not shake_hands(self._host, tried[0], self._deadline, tls=self._tls).is_for_another
        except (NotConnected, HandshakeRefused, DeadlinePassed):
            return True
        except ssl.SSLError:
            return False  # it has no certificate for this name

    def _ask(self, scheme: str) -> _Reading:
        """Ask; if IPv6 gives a wrong answer, ask over IPv4 as well, which can be another server."""
        reading = self._ask_once(scheme)
        if reading.outcome in ("found", "unreadable") or reading.response is None:
            return reading
        (address,) = reading.response.hops[-1].addresses
        if ":" not in address:
            return reading
        other = self._ask_once(scheme, ip_version=4)
        if other.outcome != "found" or other.response is None:
            return reading
        (other_address,) = other.response.hops[-1].addresses
        found = [f"{address}: {' '.join(reading.found)}", f"{other_address}: {self._token}"]
        return reading._replace(outcome="addresses_differ", found=found)

    def _ask_once(self, scheme: str, *, ip_version: int | None = None) -> _Reading:
        url = f"{scheme}://{self._netloc}{self._place.path}"
        try:
            response = fetch(
                url,
                max_bytes=self._place.max_bytes,
                deadline=self._deadline,
                ip_version=ip_version,
                tls=self._tls,
                verify=scheme == "https",  # http may lead to any certificate, as in HTTP-01 of ACME
            )
        except FetchFailed as error:
            self._add_asked(error.hops)
            tried = error.hops[0].addresses if len(error.hops) == 1 else ()
            return _Reading(_OUTCOMES.get(error.reason, error.reason), [error.detail], tried=tried)
        self._add_asked(response.hops)
        outcome, found = self._outcome_of(response)
        return _Reading(outcome, found, response)

    def _add_asked(self, hops: Sequence[Hop]) -> None:
        for hop in hops:
            addresses = ", ".join(hop.addresses)
            self.asked.append(f"{hop.url[:_MAX_URL]} ({addresses})" if addresses else hop.url[:_MAX_URL])

    def _outcome_of(self, response: Fetched) -> tuple[str, list[str]]:
        """Return the outcome of a response, and what was found."""
        headers, status = response.headers, response.status
        title = [f"{status} {title_of(response.body)}".strip()]
        outcome, found = "not_found" if status in {404, 410} else "status", title
        if status == 200:
            outcome, found = self._place.read(response, self._token)
        if outcome == "found":
            return outcome, found
        if is_refusal(response):
            return "blocked", title
        if outcome in {"status", "unreadable"}:
            return outcome, found
        age = headers.get("Age", "")  # in seconds, of a response from a cache
        if age.isascii() and age.isdecimal() and int(age[:9]) > 0:
            copied = self._now - timedelta(seconds=int(age[:9]))
            return "stale_cache", [f"a copy of {copied:%Y-%m-%d %H:%M:%S} UTC", *found]
        return outcome, found


def _read_file(response: Fetched, token: str) -> tuple[str, list[str]]:
    """Return "found" if a line of the file is the token, or another outcome, and what was found."""
    body = response.body
    if not body and not response.is_whole:
        return "unreadable", []
    is_wide = body.startswith((b"\xff\xfe", b"\xfe\xff"))  # as some editors save texts
    lines = body.decode("utf-16" if is_wide else "utf-8-sig", "replace").splitlines()
    whole_lines = lines if response.is_whole else lines[:-1]
    if token in (line.strip() for line in whole_lines):
        return "found", [token]
    if is_markup(body):
        return "html_instead", [title_of(body)]
    return "other_content", [line for line in lines if line.strip()]


def _read_page(response: Fetched, token: str) -> tuple[str, list[str]]:
    """Return "found" if a tag in the head has the token, or another outcome, and what was found."""
    page = text_of_page(response.body, response.headers.get("Content-Type", ""))
    if page is None:
        return "unreadable", []
    in_head, outside, head_ended = verification_tags(page, META_NAME)
    if token in in_head:
        return "found", [token]
    if token in outside:
        return "tag_outside_head", [token]
    if not response.is_whole and not head_ended:
        return "unreadable", in_head
    return ("other_content", in_head) if in_head else ("not_found", [title_of(response.body)])


def shown_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the found texts in readable form: at most 5 texts of 100 characters."""
    return tuple(_clean(text) for text in texts if text.strip())[:_MAX_FOUND]


def _clean(text: str) -> str:
    """Return untrusted text on one line, without control characters."""
    words = " ".join(text.split())
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in words)[:_MAX_TEXT]


_PLACES: dict[str, _Place] = {
    OwnershipClaim.Method.FILE: _Place(FILE_PATH, MAX_BYTES, _read_file),
    OwnershipClaim.Method.META: _Place(
        "/", 256 * 1024, _read_page, f'<meta name="{META_NAME}" content="%s">'
    ),
}
