"""A scan of about ten requests, and its report in our own JSON lines."""

import ssl
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

from dashboard_api.crawler.essentials.certificates import Seen
from dashboard_api.crawler.essentials.encryption import OF_TLS, check_tls
from dashboard_api.crawler.essentials.lines import Incomplete, lines_of
from dashboard_api.crawler.essentials.page import (
    OF_ORIGINS,
    OF_SECURITY_TXT,
    OF_THE_PAGE,
    Checked,
    Problem,
    Result,
    Skipped,
    Unread,
    check_headers,
    check_origins,
    check_page,
    check_plain,
    check_security_txt,
    check_way,
    is_page,
    own_hops,
)
from dashboard_api.crawler.essentials.visiting import Visit, page_of, response_to
from foundation.addresses.domains import registrable_domain
from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.fetch import Fetched, FetchFailed, error_text
from foundation.outbound.names import localhost_port
from foundation.outbound.refusals import REFUSALS
from foundation.outbound.tls import HandshakeRefused, NotConnected, shake_hands

SECONDS = 55.0  # for all requests: six responses of a website that takes 8 seconds for each
_PAUSE = 2.0  # before the second try of a connection that failed
_SECURITY_TXT = ".well-known/security.txt"
_SCAN_REFUSALS = frozenset({202, 429, 503})  # other refusals of a file may concern every visitor
_NOT_BY_HTTP = {400, 404, 405, 410, 421, 426}  # typical of servers that answer only by https


def report(
    host: str,
    address: str,
    *,
    agent: str = "",
    tls: ssl.SSLContext | None = None,
    never: Sequence[str] = (),
    facts: dict[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the report lines for ``host`` at the resolved ``address``, and add certificates to ``facts``.

    ``never`` lists hosts and address prefixes to which redirects are not followed.
    """
    visit = Visit(host, address, Deadline(SECONDS), agent, never)
    certificates = (facts if facts is not None else {}).setdefault("certificates", [])
    results = _without_certificates(_results(visit, tls), certificates)
    return lines_of("essentials", "Essentials", f"https://{host}/", results)


def _without_certificates(
    results: Iterator[Result | Seen], certificates: list[dict[str, Any]]
) -> Iterator[Result]:
    """Yield the other results, and add each certificate to ``certificates``."""
    for result in results:
        if isinstance(result, Seen):
            certificates.append(result.certificate)
        else:
            yield result


def _results(visit: Visit, tls: ssl.SSLContext | None) -> Iterator[Result | Seen]:
    """Yield certificates, problems, checked URLs and unchecked rules; raise Incomplete."""
    host, address, deadline, now = visit.host, visit.address, visit.deadline, datetime.now(UTC)
    home, plain = f"https://{host}/", f"http://{host}/"
    port = localhost_port(host) or 443
    try:
        # ``yield from`` also passes on what the generator returns.
        is_for_another = yield from check_tls(host, address, deadline, now=now, port=port, tls=tls)
    except HandshakeRefused as error:
        raise Incomplete("tls_invalid") from error
    except (NotConnected, ssl.SSLError) as error:
        page = page_of(plain, visit)  # raises Incomplete if the website is down
        is_reached = any(hop.url.startswith(home) for hop in page.hops)  # http redirected to https
        if is_reached or _answers_after_pause(host, address, deadline, port):
            raise Incomplete("connect_failed") from error
        yield Problem("https-not-offered", plain, f"No connection by TLS: {error_text(error)}.")
        yield from _by_http_alone(page, visit)
        yield from _other_names(page, deadline, now, tls)
        return
    except DeadlinePassed as error:
        raise Incomplete("timed_out") from error
    if is_for_another:
        try:
            page = page_of(plain, visit)
        except Incomplete:
            yield Unread(home, [*OF_THE_PAGE, *OF_SECURITY_TXT], "page_unknown")
            yield Unread(plain, ["https-not-enforced", *OF_THE_PAGE], "page_unknown")
            return
        if not any(hop.url.startswith(home) for hop in page.hops):
            yield Skipped(home, [*OF_THE_PAGE, *OF_SECURITY_TXT])  # https shows another website
            yield from _by_http_alone(page, visit)
            yield from _other_names(page, deadline, now, tls)
            return
    page = page_of(home, visit)
    yield from (Checked(home), *(Checked(hop.url) for hop in own_hops(page)))
    yield from check_way(own_hops(page))
    yield from check_page(page)
    yield from _other_names(page, deadline, now, tls)
    yield Checked(plain)
    try:
        response = _by_http_or_again(plain, visit)
        yield from check_plain(response)
        yield from _by_http(response, page, visit)
    except Incomplete as error:
        if not _is_closed(error):  # then http is turned off
            yield Unread(plain, ["https-not-enforced", *OF_THE_PAGE], str(error))
    try:
        response = response_to(f"{home}{_SECURITY_TXT}", visit, refusals=_SCAN_REFUSALS)
        yield from check_security_txt(response, now)
    except Incomplete as error:
        if str(error) != "redirected_away":  # then it is another owner's file
            urls = (home, *(hop.url for hop in own_hops(page)))
            files = dict.fromkeys(urljoin(url, f"/{_SECURITY_TXT}") for url in urls)
            yield from (Unread(file, OF_SECURITY_TXT, str(error)) for file in files)
    yield from _origins(page, visit)


def _answers_after_pause(host: str, address: str, deadline: Deadline, port: int) -> bool:
    """Return whether https answers after a pause, for example after a restart of the server."""
    try:
        time.sleep(min(_PAUSE, deadline.remaining()))
        shake_hands(host, address, deadline, port=port)
    except HandshakeRefused:
        return True
    except (NotConnected, ssl.SSLError):
        return False
    except DeadlinePassed as error:
        raise Incomplete("timed_out") from error
    return True


def _by_http_or_again(plain: str, visit: Visit) -> Fetched:
    """Return the response over http; try again after a pause if the port is closed, as under overload."""
    refusals = REFUSALS - _NOT_BY_HTTP
    try:
        return response_to(plain, visit, refusals=refusals)
    except Incomplete as error:
        if not _is_closed(error) or visit.deadline.remaining() <= _PAUSE:
            raise
    time.sleep(_PAUSE)
    return response_to(plain, visit, refusals=refusals)


def _is_closed(error: Incomplete) -> bool:
    """Return whether the first request, and not one after a redirect, could not connect."""
    cause = error.__cause__
    return str(error) == "connect_failed" and isinstance(cause, FetchFailed) and len(cause.hops) == 1


def _other_names(
    page: Fetched, deadline: Deadline, now: datetime, tls: ssl.SSLContext | None
) -> Iterator[Result | Seen]:
    """Yield the certificates and problems of TLS at other names on the way to a page.

    Reading the page verified no certificate.
    """
    addresses = {urljoin(hop.url, "/"): hop.addresses[0] for hop in own_hops(page)}
    addresses.pop(urljoin(page.hops[0].url, "/"))  # the website's own name is checked already
    for url, address in addresses.items():
        parts = urlsplit(url)
        if parts.scheme == "https":
            host, port = parts.hostname or "", parts.port or 443
            try:
                yield from check_tls(host, address, deadline, now=now, port=port, tls=tls)
            except (NotConnected, ssl.SSLError, DeadlinePassed):
                yield Unread(url, OF_TLS, "connect_failed")


def _by_http(response: Fetched, page: Fetched, visit: Visit) -> Iterator[Result]:
    """Yield the problems of ``response`` over http; ``page`` is the response over https.

    If https shows a page, http need not show one. Otherwise the whole website may be broken.
    """
    by_https = is_page(page) and page.url.startswith("https://")
    hops = [hop for hop in own_hops(response) if hop.url.startswith("http://")]
    yield from (Checked(hop.url) for hop in hops)
    if response.url != hops[-1].url or (by_https and response.status in _NOT_BY_HTTP):
        yield from check_headers(hops)  # a redirect, or an error of a server that answers only by https
    else:
        reason = "no_page_by_http" if by_https else "no_page"
        yield from check_page(replace(response, hops=tuple(hops)), without_page=reason)
        yield from _origins(response, visit)


def _origins(page: Fetched, visit: Visit) -> Iterator[Result]:
    """Yield a problem if scripts of another website may read the page; ask for it twice more, as they do.

    Pages in a sandboxed frame, which anyone can make, send the origin null.
    """
    if not is_page(page):
        return  # unread already
    host = urlsplit(page.url).hostname or ""
    # It begins and ends like our own, for servers that compare only one of them.
    domain = registrable_domain(host)
    origins = [f"https://{host}.evil{domain}" if domain else "https://evil.example", "null"]
    problems: list[Problem] = []
    try:
        while origins and not problems:
            origin = origins.pop(0)
            response = response_to(page.url, visit, origin=origin, addresses=page.hops[-1].addresses)
            problems = [*check_origins(response, origin)]
    except Incomplete as error:
        yield Unread(page.url, OF_ORIGINS, str(error))
    yield from problems


def _by_http_alone(page: Fetched, visit: Visit) -> Iterator[Result]:
    """Yield the results of a website without https at its name; http may redirect to https at another."""
    yield from (Checked(hop.url) for hop in own_hops(page))
    yield from check_plain(page)
    yield from check_way(own_hops(page))
    yield from check_page(page)
    yield from _origins(page, visit)
    names = dict.fromkeys(urljoin(hop.url, "/") for hop in own_hops(page) if hop.url.startswith("https://"))
    yield from (Skipped(name, OF_SECURITY_TXT) for name in names)
