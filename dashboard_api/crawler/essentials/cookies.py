"""Cookies as browsers store them, and what is wrong with each."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from dashboard_api.crawler.essentials.times import time_of

# Rules of this module.
OF_COOKIES = (
    *("cookie-without-secure", "cookie-without-httponly", "cookie-without-samesite"),
    "cookie-prefix-broken",
)
# The stable part of cookie names that change with each response: ASP, Imperva, Apache, ASP.NET.
_LASTING_NAME = re.compile(
    r"ASPSESSIONID(?=[A-Z]{8}$)|incap_ses_(?=\d+_\d+$)|mod_auth_openidc_state_|OpenIdConnect\.nonce\."
    r"|\.AspNetCore\.(Correlation|OpenIdConnect\.Nonce)\."
)
# Names of cookies that scripts must read, or that are no secret: tokens against request forgery (which a
# script sends back), consents, languages and other settings, and visitors' numbers of statistics.
_OF_SCRIPTS = re.compile(
    r".*[cx]srf.*|.*consent.*|.*gdpr.*|cmplz_.*|didomi_.*|borlabs-cookie|cookielawinfo.*|viewed_cookie_policy"
    r"|optanonalertboxclosed|tarteaucitron|klaro|axeptio_.*|_iub_cs-.*|cookie[-_]?(notice|law|policy|banner|accept|allow|settings|preferences).*"
    r"|(.*[-_.])?(current[-_])?(lang|language|locale|i18n|i18next|i18n_redirected|theme|currency|timezone|tz)"
    r"|_ga(_.*)?|_gid|_gat.*|_gcl_.*|_fb[pc]|__utm.|_pk_(id|ses|ref|cvar|hsr).*|_hj.*|_uet(sid|vid)",
    re.IGNORECASE,
)
_SAME_SITES = {"strict", "lax", "none"}  # browsers ignore other values


def problems_of_cookies(headers: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the rule, the evidence and the matcher of each problem of a cookie.

    A line without a name is no cookie, such as one that holds attributes only. The evidence names the cookie
    only, because redaction would remove a whole Set-Cookie line.
    """
    for line in headers.getlist("Set-Cookie"):
        pair, *others = line.split(";")
        name, _, _ = pair.partition("=")
        shown = " ".join(name[:100].split())
        parts = (part.partition("=") for part in others)
        attributes = {key.strip().lower(): value.strip() for key, _, value in parts}
        if "=" not in pair or not shown or _is_removed(attributes):
            continue
        lasting = _LASTING_NAME.match(shown)
        matcher = lasting[0] if lasting else shown
        for rule, problem in _problems_of(shown, attributes):
            yield rule, f'The cookie "{shown}" {problem}', matcher


def _problems_of(name: str, attributes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if problem := _broken_prefix(name.lower(), attributes):
        yield "cookie-prefix-broken", problem
        return  # browsers do not store it
    if "secure" not in attributes:
        yield "cookie-without-secure", "has no Secure."
    if "httponly" not in attributes and not _OF_SCRIPTS.fullmatch(name):
        yield "cookie-without-httponly", "has no HttpOnly."
    same_site = attributes.get("samesite")
    if same_site is None:
        yield "cookie-without-samesite", "has no SameSite."
    elif same_site.lower() not in _SAME_SITES:
        shown = f"the value {same_site[:20]}" if same_site else "no value"
        yield "cookie-without-samesite", f"has SameSite with {shown}, so browsers ignore it."


def _broken_prefix(name: str, attributes: Mapping[str, str]) -> str:
    """Return what the prefix of the name demands and the cookie lacks."""
    if not name.startswith(("__host-", "__secure-", "__http-")):
        return ""
    if "secure" not in attributes:
        return "has no Secure, which its name demands."
    if name.startswith(("__http-", "__host-http-")) and "httponly" not in attributes:
        return "has no HttpOnly, which its name demands."
    if name.startswith("__host-") and attributes.get("path") != "/":
        return "does not have Path=/, which its name demands."
    if name.startswith("__host-") and attributes.get("domain"):
        return "has a Domain, which its name forbids."
    return ""


def names_of_cookies(headers: Any) -> Iterator[str]:
    """Yield the names of a response's cookies, without parts that change with each response."""
    for line in headers.getlist("Set-Cookie"):
        name, equals_sign, _ = line.partition(";")[0].partition("=")
        if equals_sign and name.strip():
            lasting = _LASTING_NAME.match(name.strip())
            yield lasting[0] if lasting else name.strip()


def _is_removed(attributes: Mapping[str, str]) -> bool:
    """Return whether browsers remove the cookie, because it has expired."""
    age = attributes.get("max-age", "")
    if re.fullmatch(r"-?[0-9]+", age):  # it overrides "expires"
        return age.startswith("-") or not age.strip("0")  # negative or zero
    at = time_of(attributes.get("expires", ""))
    return at is not None and at.tzinfo is not None and at < datetime.now(UTC)
