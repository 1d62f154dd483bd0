"""Reasons of scans, explained to the owner of the website."""

from signed_api.scans import PROTECTIONS

_BLOCKED_BY = (
    "It looks as if {} blocked the scan, so nothing counts as fixed: allow the addresses and the user agent "
    "of scans there, and scan again."
)
_WORDS = {
    "no_address": "The name has no address: check its A and AAAA records.",
    "alias_missing": (
        "The name is a CNAME of a name that does not exist, which anyone may be able to register: remove the "
        "CNAME record, or set up the name that it points to."
    ),
    "servers_silent": "The name servers of the domain do not answer: scan again later.",
    "private_address": (
        "The name leads to a private address, which the internet cannot reach: check all of its A and AAAA "
        "records."
    ),
    "connect_failed": (
        "The website could not be reached: check that it answers from the internet, on port 443 or 80."
    ),
    "tls_invalid": "No encrypted connection was possible: check the certificate, and the settings of https.",
    "timed_out": "The website did not answer in time: scan again later.",
    "broken_response": "The website closed the connection early: scan again later.",
    "blocked": (
        "A protection of the website refused the scan, so nothing counts as fixed. We cannot tell which: "
        "allow the addresses and the user agent of scans, and scan again."
    ),
    "page_changed": (
        "The page looks different from the one that earlier scans saw, as behind a protection, so this scan "
        "neither adds nor fixes findings, except of the domain: confirm the page if it is yours."
    ),
    "first_look": (
        "Earlier scans did not record what the page looks like, so findings that this scan does not see stay "
        "open until the next one."
    ),
    "redirected_away": (
        "The website redirects to another domain or port: answer here without a redirect, or add the website "
        "that it leads to."
    ),
    "redirect_loop": (
        "The website redirects in a loop, or more than five times: correct its redirects for visitors "
        "without cookies, and scan again."
    ),
    "no_page": (
        "The home page answers with an error, such as 404, or without a page, so its headers and content "
        "were not checked, and nothing about them counts as fixed."
    ),
    "page_unknown": (
        "The certificate is for another name, and http shows no page of this website, so it is unknown which "
        "page belongs to it, and none was checked: get a certificate for this name, or answer at http."
    ),
    "server_error": (
        "The website answered with an error of its server, so some checks failed: scan again when it works."
    ),
    "not_read_to_the_end": (
        "The home page or security.txt could not be read to its end, so some checks failed: send them "
        "uncompressed, and with less than 1 MB."
    ),
    "scripts_unread": (
        "Some scripts of the home page could not be read, so findings about scripts stay open: check that "
        "their addresses answer."
    ),
    "ownership_lapsed": "The proof of ownership is missing: prove again that the website is yours.",
    "opted_out": (
        "This website, or one that it redirects to, opted out of scans: contact support to change it."
    ),
    "plan_ended": "The plan no longer allowed the scan when it was due: check the plan.",
    "consent_missing": (
        "The owner's consent to deep scans had ended before the scan could begin: the owner must agree again."
    ),
    "engine_missing": "The scanner is not installed here: contact support.",
    "engine_crashed": "The scanner crashed: scan again; contact support if it happens again.",
    "engine_timeout": "The scanner took too long, and was ended: scan again when the website is less busy.",
    "stopped_early": (
        "The scanner ended before it had tried everything, so findings that it did not report stay open. To "
        "give it less to check, exclude parts for ThreatDashboard in robots.txt, such as a calendar."
    ),
    "out_of_memory": "The scanner needed too much memory: contact support.",
    "no_report": "The scanner wrote no report: scan again; contact support if this is repeated.",
    "report_unreadable": "The scanner's report cannot be read: contact support.",
    "too_much_output": "The scanner wrote too much, and was ended: contact support.",
    "too_many_requests": "The scanner sent more requests than this profile allows, and was ended.",
    "too_much_traffic": "The scanner moved more data than this profile allows, and was ended.",
    "robots_txt": (
        "The robots.txt of the website forbids us its home page, so this scanner did not follow links: allow "
        "ThreatDashboard there."
    ),
    "no_time_left": "The time of this profile was used up before this scanner could begin.",
    "not_all_checked": (
        "Some checks were not possible, so their findings stay open: scan again; contact support if this is "
        "repeated."
    ),
    "cancelled": "The scan was cancelled.",
    "worker_lost": "The scan was interrupted twice on our side; it does not count. Scan again.",
}


def explanation(reason: str, protection: str = "") -> str:
    """Return what happened and what to do; empty without a reason, a crash for an unknown reason.

    ``protection`` is the key of what seems to have blocked the scan, if it is known.
    """
    if not reason:
        return ""
    if reason == "blocked" and protection in PROTECTIONS:
        return _BLOCKED_BY.format(PROTECTIONS[protection])
    return _WORDS.get(reason, _WORDS["engine_crashed"])


_OF_DOMAIN = {
    "no_service": "This service does not ask registries for the last day of domains.",
    "of_platform": "The domain belongs to a platform or a single name, not to the owner of the website.",
    "no_server": "The registry of this ending does not tell the last day of its domains by RDAP.",
    "not_found": "The registry does not know this domain, or tells nobody about it.",
    "no_day": "The registry does not tell the last day of this domain.",
}


def domain_explanation(reason: str) -> str:
    """Return why the last day of a domain is not known; empty without a reason."""
    failed = "The registry did not answer: the next scan asks again."
    return _OF_DOMAIN.get(reason, failed) if reason else ""
