"""Problems that Nikto finds in headers and cookies; the words and ratings are ours."""

from dashboard_api.scanners.nikto.known import Known
from dashboard_api.scanners.report import Severity


def _missing(header: str, severity: Severity, cwe: int, meaning: str, remedy: str) -> Known:
    """A missing header; 2.1 and 2.5 report some in sentences of their own, 2.6 all in the same one."""
    return Known(
        key="missing-header",
        pattern=rf"(?:header missing: |the (?:anti-clickjacking )?|TLS and the |SSL and the )({header})"
        r"(?: (?:HTTP )?header is not (?:present|set|defined)|\W*$|\. See)",
        title=f"The header {header} is not sent",
        severity=severity,
        meaning=meaning,
        remedy=remedy,
        cwe=(cwe,),
    )


_MISSING = [
    _missing(
        "X-Frame-Options",
        Severity.MEDIUM,
        1021,
        "Other websites can show this one in a frame and trick visitors into clicking (clickjacking).",
        "Send Content-Security-Policy with frame-ancestors, or X-Frame-Options: DENY or SAMEORIGIN.",
    ),
    _missing(
        "Content-Security-Policy",
        Severity.MEDIUM,
        693,
        "Nothing limits what a script that an attacker manages to inject can do.",
        "Send Content-Security-Policy, beginning with Content-Security-Policy-Report-Only.",
    ),
    _missing(
        "Strict-Transport-Security",
        Severity.LOW,
        319,
        "A visitor's first request may go out over http, where it can be read and changed.",
        "Send Strict-Transport-Security with a max-age of at least half a year.",
    ),
    _missing(
        "X-Content-Type-Options",
        Severity.LOW,
        693,
        "Browsers may guess that a file is a script or a page, and run it.",
        "Send X-Content-Type-Options: nosniff.",
    ),
    _missing(
        "Referrer-Policy",
        Severity.LOW,
        200,
        "Other websites learn the full addresses that visitors come from.",
        "Send Referrer-Policy: strict-origin-when-cross-origin, or a stricter one.",
    ),
    _missing(
        "Permissions-Policy",
        Severity.INFO,
        693,
        "Nothing limits which features of the browser pages and embedded content may use.",
        "Send Permissions-Policy with the features that this website needs.",
    ),
    _missing(
        "X-XSS-Protection",
        Severity.INFO,
        693,
        "Browsers no longer use this header.",
        "Nothing needs to be done: send Content-Security-Policy instead.",
    ),
]
_SENT = [
    Known(
        key="hsts-off",
        pattern=r"Strict-Transport-Security HTTP header is set with max-age=0",
        title="Strict Transport Security (HSTS) is switched off",
        severity=Severity.LOW,
        meaning="A max-age of 0 makes browsers forget that this website is reached over https only.",
        remedy="Send Strict-Transport-Security with a max-age of at least half a year.",
        cwe=(319,),
    ),
    Known(
        key="frames-allowed",
        pattern=r"X-Frame-Options header is set to allow framing",
        title="X-Frame-Options uses the obsolete ALLOW-FROM",
        severity=Severity.LOW,
        meaning="Browsers ignore this value, so that every website may show this one in a frame.",
        remedy="Send Content-Security-Policy with frame-ancestors.",
        cwe=(1021,),
    ),
    Known(
        key="any-origin",
        pattern=r"Retrieved access-control-allow-origin header: \*",
        title="Every website may read the answers (CORS)",
        severity=Severity.LOW,
        kind="suspected",
        meaning="This is intended for public data only.",
        remedy="Name the origins that may read answers in Access-Control-Allow-Origin.",
        cwe=(942,),
    ),
    Known(
        key="header-shown",
        pattern=r"Retrieved ([\w-]+) header",
        title="The header {} shows details of the server",
        severity=Severity.INFO,
        meaning="Such details help an attacker to choose known weaknesses of the software.",
        remedy="Remove the header if nothing needs it.",
        cwe=(200,),
    ),
    Known(
        key="cookie-without-secure",
        pattern=r"Cookie (\S+) created without the secure flag",
        title="The cookie {} is sent without the Secure flag",
        severity=Severity.LOW,
        meaning="The browser sends this cookie over http, too, where it can be read.",
        remedy="Set the Secure flag of this cookie.",
        cwe=(614,),
    ),
    Known(
        key="cookie-without-httponly",
        pattern=r"Cookie (\S+) created without the httponly flag",
        title="The cookie {} is sent without the HttpOnly flag",
        severity=Severity.LOW,
        meaning="An injected script can read this cookie.",
        remedy="Set the HttpOnly flag of this cookie unless scripts need it.",
        cwe=(1004,),
    ),
    Known(
        key="internal-address",
        pattern=r"IP address found in the '([^']+)' (?:header|cookie)"
        r"|(?:internal or real|RFC-1918|different) IP (?:address )?.*\bin the ([\w-]+) header",
        title="An IP address of the server is shown in {}",
        severity=Severity.LOW,
        meaning="The address shows how the servers behind this website are connected.",
        remedy="Remove the address from the headers and cookies of the answers.",
        cwe=(200,),
    ),
    Known(
        key="inodes",
        pattern=r"leaks? inodes via ETags",
        title="ETags show inodes of files",
        severity=Severity.LOW,
        meaning="The number of a file on the server's disk is part of its ETag.",
        remedy="Make ETags without inodes (Apache: FileETag MTime Size).",
        cwe=(200,),
        cve=("CVE-2003-1418",),
    ),
    Known(
        key="breach",
        pattern=r"vulnerable to the BREACH attack",
        title="Compressed answers may be open to BREACH",
        severity=Severity.LOW,
        kind="suspected",
        meaning="The length of compressed pages can give away secrets in them, if pages repeat what a "
        "visitor sent.",
        remedy="Do not compress answers that hold secrets and what a visitor sent.",
        cwe=(310,),
        cve=("CVE-2013-3587",),
    ),
]
HEADERS = [*_MISSING, *_SENT]
