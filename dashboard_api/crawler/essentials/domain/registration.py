"""The registration of a domain: its last day and registrar, from an RDAP service (RFC 9082 and 9083)."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

import msgspec

from dashboard_api.crawler.essentials.domain.site import Site
from foundation.addresses.domains import registry_suffix
from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.fetch import Fetched, FetchFailed, fetch

_SECONDS = 8.0  # for all requests
_MAX_BYTES = 256 * 1024
_MAX_SERVICES = 3  # the service, the registry that it names, and perhaps another one


class _Event(msgspec.Struct):
    eventAction: str = ""  # noqa: N815 - a name of RFC 9083, like the others here
    eventDate: str = ""  # noqa: N815


class _Domain(msgspec.Struct):
    objectClassName: str  # noqa: N815
    ldhName: str = ""  # noqa: N815
    events: list[_Event] = []
    entities: msgspec.Raw = msgspec.Raw(b"[]")


class _Entity(msgspec.Struct):
    roles: list[str] = []
    vcardArray: list[Any] = []  # noqa: N815


class _Unknown(Exception):
    """The registration is not known; the message is a reason."""


def registration(site: Site, service: str) -> dict[str, Any]:
    """Return the domain's name, last day and registrar, or a reason why the day is not known.

    ``service`` is the address of an RDAP service; without one, nothing is asked. A failure is no finding.
    """
    facts: dict[str, Any] = {"name": site.domain, "valid_until": None, "registrar": "", "reason": ""}
    if site.domain.partition(".")[2] != registry_suffix(site.domain):
        return facts | {"reason": "of_platform"}
    if not service:
        return facts | {"reason": "no_service"}
    try:
        answer = _answer(f"{service}/domain/{site.domain}", site)
        facts["registrar"] = _registrar(answer.entities)
        facts["valid_until"] = _last_day(answer)
    except _Unknown as error:
        facts["reason"] = str(error)
    return facts


def _answer(url: str, site: Site) -> _Domain:
    response = _response(url, site)
    if response.status == 404:
        # The service itself has no such page if it knows no server of this ending.
        raise _Unknown("no_server" if response.url == url else "not_found")
    if response.status != 200 or not response.is_whole:
        raise _Unknown("failed")
    try:
        answer = msgspec.json.decode(response.body, type=_Domain)
    except (ValueError, RecursionError) as error:
        raise _Unknown("failed") from error
    if answer.objectClassName != "domain" or answer.ldhName.lower().rstrip(".") != site.domain:
        raise _Unknown("failed")
    return answer


def _response(url: str, site: Site) -> Fetched:
    """Return the response, also from a registry at another domain to which the service leads."""
    schemes = {"https", urlsplit(url).scheme}
    try:
        deadline = Deadline(min(_SECONDS, site.deadline.remaining()))
        for _ in range(_MAX_SERVICES):
            try:
                return fetch(
                    url,
                    max_bytes=_MAX_BYTES,
                    deadline=deadline,
                    agent=site.agent,
                    never=site.never,
                    tls=site.tls,
                )
            except FetchFailed as error:
                if error.reason != "redirected_away":
                    raise _Unknown("failed") from error
                url = urljoin(error.hops[-1].url, error.detail)
                if urlsplit(url).scheme not in schemes:
                    raise _Unknown("failed") from error
    except (DeadlinePassed, ValueError) as error:  # ValueError: an address that is none
        raise _Unknown("failed") from error
    raise _Unknown("failed")


def _last_day(answer: _Domain) -> str:
    for event in answer.events:
        if event.eventAction.lower() == "expiration":
            try:
                ends = datetime.fromisoformat(event.eventDate)
                ends = ends.astimezone(UTC) if ends.tzinfo else ends.replace(tzinfo=UTC)
            except (ValueError, OverflowError):
                continue
            if 1900 <= ends.year < 9999:
                return f"{ends:%Y-%m-%dT%H:%M:%SZ}"
    raise _Unknown("no_day")


def _registrar(entities: msgspec.Raw) -> str:
    """Return the name of the registrar; empty if the response has none that can be read."""
    try:
        for entity in msgspec.json.decode(entities, type=list[_Entity]):
            if "registrar" in entity.roles:
                properties = {name: value for name, _, _, value in entity.vcardArray[1]}
                return "".join(each for each in str(properties.get("fn", "")) if each.isprintable())[:200]
    except (ValueError, TypeError, IndexError, RecursionError):
        pass
    return ""
