"""Advice to the owner of a website for each outcome of a check."""

from django.utils.translation import gettext_noop as _  # callers translate it where people read it

_ADVICE = {
    "found": "",
    "not_found": _("Nothing is at this address: upload the file there, with exactly this name."),
    "status": _("The website answers with an error: repair it, and check again."),
    "html_instead": _(
        "The website answers with a page instead of the file: deliver files below /.well-known/ before "
        "any rule that rewrites addresses."
    ),
    "other_content": _("The file has other content: one of its lines must be exactly the expected text."),
    "tag_outside_head": _("The tag is on the page, but outside of its head: move it into <head>."),
    "redirected_away": _(
        "The website redirects to another domain or port: answer here without a redirect, or add the website "
        "that it leads to."
    ),
    "tls_invalid": _(
        "There is no https with a valid certificate for this name, and the proof was not found over http "
        "either: publish it there, correct the certificate, or use a DNS record."
    ),
    "blocked": _(
        "A protection of the website refused the check: allow the user agent ThreatDashboard/1, "
        "and check again."
    ),
    "page_changed": _(
        "The home page looks different from the one that scans know, so this check does not count: allow "
        "the user agent ThreatDashboard/1, or confirm the page of a scan."
    ),
    "stale_cache": _("A cache answered with an older copy: empty it, or wait until the copy has expired."),
    "no_address": _("The name has no address: check its A and AAAA records."),
    "servers_silent": _("The name servers of the domain do not answer: check again later."),
    "private_address": _(
        "The name leads to a private address, which the internet cannot reach: check all of its "
        "A and AAAA records."
    ),
    "connect_failed": _(
        "The website could not be reached, or broke off the connection: check that it answers from the "
        "internet, on port 443 or 80."
    ),
    "addresses_differ": _(
        "Only the server at the IPv4 address has the proof: publish it on all servers, or correct "
        "the AAAA record."
    ),
    "unreadable": _(
        "The file is compressed in a way that we cannot read: send it as it is to requests with "
        "Accept-Encoding: identity."
    ),
    "timed_out": _("The website did not answer within 12 seconds: check again later."),
}
_OF_META = {
    "not_found": _("The start page has no such tag: put it into <head>, and publish the page."),
    "other_content": _(
        "The tag has another value: use the expected one, next to the other if that is needed."
    ),
    "unreadable": _(
        "The head of the start page could not be read to its end: put the tag at its beginning, and send the "
        "page uncompressed to requests with Accept-Encoding: identity."
    ),
}
_OF_DNS = {
    "name_missing": _(
        "There is no record with this name: add it, with exactly this name. Panels that add the domain "
        "themselves want only the first part of the name."
    ),
    "no_txt": _("The name exists, but has no TXT record: add one with the expected value."),
    "other_value": _("There are TXT records with other values: add one more with the expected value."),
    "partly_published": _(
        "Only some of the domain's name servers have the record: wait until all have it, or correct "
        "those that do not."
    ),
    "wrong_place": _("The record has another name than expected: move it to exactly this name."),
    "wildcard": _(
        "The answer is from a wildcard record, which proves nothing: add a TXT record with exactly this name."
    ),
    "dnssec_bogus": _("The DNSSEC signatures of the domain are wrong: correct or remove them first."),
    "private_address": _(
        "A name server of the domain has a private address, which the internet cannot reach: "
        "correct its address."
    ),
}
_OF_METHOD = {"meta": _OF_META, "dns": _OF_DNS}
_WEAK = _("The proof counts, but it was read without a valid certificate: set up https.")


def advice_for(method: str, outcome: str, strength: str) -> str:
    """Return what to do next, in English; empty where there is nothing to do."""
    if outcome == "found" and strength == "http":
        return _WEAK
    own = _OF_METHOD.get(method, {})
    return own[outcome] if outcome in own else _ADVICE[outcome]
