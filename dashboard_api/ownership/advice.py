"""Advice to the owner of a website for each outcome of a check."""

_ADVICE = {
    "found": "",
    "not_found": "Nothing is at this address: upload the file there, with exactly this name.",
    "status": "The website answers with an error: repair it, and check again.",
    "html_instead": (
        "The website answers with a page instead of the file: deliver files below /.well-known/ before "
        "any rule that rewrites addresses."
    ),
    "other_content": "The file has other content: one of its lines must be exactly the expected text.",
    "tag_outside_head": "The tag is on the page, but outside of its head: move it into <head>.",
    "redirected_away": (
        "The website redirects to another domain or port: answer here without a redirect, or add the website "
        "that it leads to."
    ),
    "tls_invalid": (
        "There is no https with a valid certificate for this name, and the proof was not found over http "
        "either: publish it there, correct the certificate, or use a DNS record."
    ),
    "blocked": (
        "A protection of the website refused the check: allow the user agent ThreatDashboard/1, "
        "and check again."
    ),
    "page_changed": (
        "The home page looks different from the one that scans know, so this check does not count: allow "
        "the user agent ThreatDashboard/1, or confirm the page of a scan."
    ),
    "stale_cache": "A cache answered with an older copy: empty it, or wait until the copy has expired.",
    "no_address": "The name has no address: check its A and AAAA records.",
    "servers_silent": "The name servers of the domain do not answer: check again later.",
    "private_address": (
        "The name leads to a private address, which the internet cannot reach: check all of its "
        "A and AAAA records."
    ),
    "connect_failed": (
        "The website could not be reached, or closed the connection: check that it answers from the "
        "internet, on port 443 or 80."
    ),
    "addresses_differ": (
        "Only the server at the IPv4 address has the proof: publish it on all servers, or correct "
        "the AAAA record."
    ),
    "unreadable": (
        "The file is compressed in a way that we cannot read: send it uncompressed to requests with "
        "Accept-Encoding: identity."
    ),
    "timed_out": "The website did not answer within 12 seconds: check again later.",
}
# The advice by method, where it differs from _ADVICE.
_OF_META = {
    "not_found": "The start page has no such tag: put it into <head>, and publish the page.",
    "other_content": "The tag has another value: use the expected one, next to the other if that is needed.",
    "unreadable": (
        "The head of the start page could not be read to its end: put the tag at its beginning, and send the "
        "page uncompressed to requests with Accept-Encoding: identity."
    ),
}
_OF_DNS = {
    "name_missing": (
        "There is no record with this name: add it, with exactly this name. Panels that add the domain "
        "themselves want only the first part of the name."
    ),
    "no_txt": "The name exists, but has no TXT record: add one with the expected value.",
    "other_value": "There are TXT records with other values: add one more with the expected value.",
    "partly_published": (
        "Only some of the domain's name servers have the record: wait until all have it, or correct "
        "those that do not."
    ),
    "wrong_place": "The record has another name than expected: move it to exactly this name.",
    "wildcard": (
        "The answer is from a wildcard record, which proves nothing: add a TXT record with exactly this name."
    ),
    "dnssec_bogus": "The DNSSEC signatures of the domain are wrong: correct or remove them first.",
    "private_address": (
        "A name server of the domain has a private address, which the internet cannot reach: "
        "correct its address."
    ),
}
_OF_METHOD = {"meta": _OF_META, "dns": _OF_DNS}
_WEAK = "The proof counts, but it was read without a valid certificate: set up https."


def advice_for(method: str, outcome: str, strength: str) -> str:
    """Return the owner's next step in English, or an empty text if no step is needed."""
    if outcome == "found" and strength == "http":
        return _WEAK
    of_method = _OF_METHOD.get(method, {})
    return of_method[outcome] if outcome in of_method else _ADVICE[outcome]
