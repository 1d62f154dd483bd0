"""Titles and fixes of topics: problems that several scanners report.

The service writes them in English. The portal translates the topics that it knows.
"""

from typing import NamedTuple

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _


class Topic(NamedTuple):
    """A topic's title, and its fix in one line, as the service writes them."""

    title: str
    fix: str


TOPICS = {
    "certificate-expired": Topic(
        _("The certificate has expired or expires soon"),
        _("Renew the certificate, and let the server renew it by itself from now on (ACME)."),
    ),
    "certificate-not-trusted": Topic(
        _("Browsers do not trust the certificate"),
        _("Use a certificate of a public authority, and send its intermediate certificates with it."),
    ),
    "certificate-name": Topic(
        _("The certificate is for another name"),
        _("Use a certificate that names every host under which the website is reached."),
    ),
    "certificate-key": Topic(
        _("The certificate's key or signature is weak"),
        _("Issue a new certificate with an RSA key of 2,048 bits or an EC key of 256, signed with SHA-256."),
    ),
    "certificate-chain": Topic(
        _("The server sends its certificates in the wrong order"),
        _("Send the server's own certificate first, then each intermediate one in its order."),
    ),
    "certificate-revoked": Topic(
        _("The certificate has been revoked"),
        _("Replace the certificate at once, and find out why it was revoked."),
    ),
    "certificate-wildcard": Topic(
        _("The certificate is for every subdomain"),
        _("Use a certificate for each host where one lost key must not open all subdomains."),
    ),
    "ssl-offered": Topic(
        _("SSL 2.0 or 3.0 is offered"),
        _("Turn SSL 2.0 and 3.0 off, and offer TLS 1.2 and 1.3 only."),
    ),
    "tls-1-0-offered": Topic(
        _("TLS 1.0 is offered"),
        _("Turn TLS 1.0 off, and offer TLS 1.2 and 1.3 only."),
    ),
    "tls-1-1-offered": Topic(
        _("TLS 1.1 is offered"),
        _("Turn TLS 1.1 off, and offer TLS 1.2 and 1.3 only."),
    ),
    "weak-cipher-suites": Topic(
        _("Weak cipher suites are offered"),
        _("Offer only cipher suites with AES-GCM or ChaCha20-Poly1305 and ECDHE key exchange."),
    ),
    "cipher-suites-without-protection": Topic(
        _("Cipher suites without protection are offered"),
        _("Turn off the NULL, anonymous and EXPORT cipher suites."),
    ),
    "weak-key-exchange": Topic(
        _("The key exchange is weak (Logjam)"),
        _("Use ECDHE, or Diffie-Hellman groups of at least 2,048 bits."),
    ),
    "forward-secrecy": Topic(
        _("Connections have no forward secrecy"),
        _("Offer cipher suites with ECDHE key exchange, and turn off those that begin with TLS_RSA."),
    ),
    "heartbleed": Topic(
        _("The server is vulnerable to Heartbleed"),
        _("Update OpenSSL, then replace keys, certificates and passwords that the server used."),
    ),
    "ccs-injection": Topic(
        _("The server is vulnerable to CCS injection"),
        _("Update OpenSSL to a version without CVE-2014-0224."),
    ),
    "robot": Topic(
        _("The server is vulnerable to ROBOT"),
        _("Turn off cipher suites with RSA key exchange (TLS_RSA), or update the TLS library."),
    ),
    "tls-compression": Topic(
        _("TLS compression is on (CRIME)"),
        _("Turn TLS compression off."),
    ),
    "tls-renegotiation": Topic(
        _("TLS sessions can be renegotiated unsafely"),
        _("Allow secure renegotiation only (RFC 5746), and refuse renegotiation by clients."),
    ),
    "tls-downgrade": Topic(
        _("Connections can be downgraded to older protocols"),
        _("Update the TLS library so that it supports TLS_FALLBACK_SCSV."),
    ),
    "breach": Topic(
        _("Compressed responses may be open to BREACH"),
        _("Do not compress pages that contain secrets next to what a visitor typed."),
    ),
    "caa-record": Topic(
        _("No CAA record limits who may issue certificates"),
        _("Add a CAA record to the DNS zone that names the authorities you use."),
    ),
    "mail-senders": Topic(
        _("The domain does not limit which servers send its mail (SPF)"),
        _("Publish one SPF record: v=spf1 -all if the domain sends no mail, or else its servers and -all."),
    ),
    "mail-policy": Topic(
        _("Receivers are not asked to refuse forged mail (DMARC)"),
        _("Publish a DMARC policy: p=none with reports at first, and quarantine or reject later."),
    ),
    "mail-encryption": Topic(
        _("Mail to the domain may be sent without encryption (MTA-STS, TLS-RPT)"),
        _("Publish an MTA-STS policy, in testing mode at first, and a TLS-RPT record for reports."),
    ),
    "domain-signatures": Topic(
        _("The domain is not signed, or its signatures are wrong (DNSSEC)"),
        _("Turn on DNSSEC at the DNS provider, and enter its DS record at the registrar."),
    ),
    "name-leads-nowhere": Topic(
        _("A record of the domain points to a name that does not exist, or that others may claim"),
        _("Remove the record, or set up the name that it points to, or claim it at the platform."),
    ),
    "https-not-enforced": Topic(
        _("Visitors are not redirected to HTTPS"),
        _("Redirect every request on HTTP to the same address on HTTPS."),
    ),
    "password-not-encrypted": Topic(
        _("Passwords are sent without encryption"),
        _("Serve pages that ask for a password, and the address that it is sent to, on HTTPS only."),
    ),
    "form-not-encrypted": Topic(
        _("A form is sent without encryption"),
        _("Let the action of every form begin with https, or with / for the website itself."),
    ),
    "mixed-content": Topic(
        _("An encrypted page loads files without encryption (mixed content)"),
        _("Load every file of a page over HTTPS."),
    ),
    "strict-transport-security": Topic(
        _("Strict Transport Security (HSTS) is missing or weak"),
        _("Send Strict-Transport-Security with a max-age of at least six months on every HTTPS response."),
    ),
    "content-security-policy": Topic(
        _("The Content Security Policy (CSP) is missing or weak"),
        _("Send a Content-Security-Policy that allows your own scripts only, without unsafe-inline."),
    ),
    "clickjacking": Topic(
        _("Pages can be framed by other websites (clickjacking)"),
        _("Send Content-Security-Policy with frame-ancestors 'self', or X-Frame-Options: SAMEORIGIN."),
    ),
    "content-type-options": Topic(
        _("Browsers may guess the type of files (X-Content-Type-Options)"),
        _("Send X-Content-Type-Options: nosniff with every response."),
    ),
    "referrer-policy": Topic(
        _("The Referrer-Policy is missing or weak"),
        _("Send Referrer-Policy: strict-origin-when-cross-origin, or a stricter one."),
    ),
    "permissions-policy": Topic(
        _("The Permissions-Policy is missing"),
        _("Send a Permissions-Policy that turns off the browser features that you do not use."),
    ),
    "subresource-integrity": Topic(
        _("Scripts of other websites are loaded without integrity"),
        _("Add integrity and crossorigin to scripts of other websites, or serve them yourself."),
    ),
    "cross-origin-sharing": Topic(
        _("Other websites may read the responses (CORS)"),
        _(
            "Name the origins that may read responses in Access-Control-Allow-Origin, "
            "never * with credentials."
        ),
    ),
    "cookie-without-secure": Topic(
        _("A cookie is sent without the Secure flag"),
        _("Set the Secure flag on every cookie."),
    ),
    "cookie-without-httponly": Topic(
        _("A cookie is sent without the HttpOnly flag"),
        _("Set the HttpOnly flag on every cookie that scripts need not read."),
    ),
    "cookie-without-samesite": Topic(
        _("A cookie is sent without SameSite"),
        _("Set SameSite=Lax or Strict on every cookie."),
    ),
    "cookie-prefix": Topic(
        _("A cookie lacks what the prefix of its name demands"),
        _("Set Secure for __Secure- and __Host-, and for __Host- also Path=/ and no Domain."),
    ),
    "server-version": Topic(
        _("Headers show details of the server"),
        _("Remove product names and versions from headers such as Server and X-Powered-By."),
    ),
    "internal-address": Topic(
        _("An internal address is shown"),
        _("Remove internal addresses from headers and pages, above all from redirects."),
    ),
    "error-details": Topic(
        _("Error messages show details of the server"),
        _("Show visitors a plain error page, and write the details to a log."),
    ),
    "directory-listing": Topic(
        _("The server lists the files of directories"),
        _("Turn directory listings off in the web server."),
    ),
    "repository-exposed": Topic(
        _("A repository of source code can be fetched"),
        _("Remove the repository from the web root, and replace every secret in its history."),
    ),
    "passwords-exposed": Topic(
        _("A file with passwords can be downloaded"),
        _("Move the file out of the published folder, and change every password and key in it."),
    ),
    "backup-exposed": Topic(
        _("A backup can be downloaded"),
        _("Delete the file, keep backups out of the web root, and look for downloads in the server's log."),
    ),
    "server-details": Topic(
        _("A page shows the inner state of the server"),
        _("Remove the page, or allow it for the server itself only."),
    ),
    "sql-injection": Topic(
        _("SQL injection"),
        _("Pass values to SQL as parameters of prepared statements, never as parts of its text."),
    ),
    "cross-site-scripting": Topic(
        _("Cross-site scripting (XSS)"),
        _("Escape every value for the place in the page where it is written."),
    ),
    "request-forgery": Topic(
        _("Forms without protection against request forgery (CSRF)"),
        _("Require a secret token in every form that changes something."),
    ),
    "open-redirect": Topic(
        _("Visitors can be redirected to other websites"),
        _("Redirect to addresses of your own website only, from a list of allowed ones."),
    ),
    "path-traversal": Topic(
        _("Files outside the website can be read"),
        _("Never build file paths from what visitors send; choose files from a list."),
    ),
    "command-injection": Topic(
        _("Operating system commands can be run"),
        _("Call programs without a shell, with values as separate arguments."),
    ),
    "server-side-request-forgery": Topic(
        _("The server can be made to send requests (SSRF)"),
        _("Allow requests only to hosts of a fixed list, and refuse internal addresses."),
    ),
    "xml-external-entity": Topic(
        _("XML can include files of the server (XXE)"),
        _("Turn document types and external entities off in the XML parser."),
    ),
    "line-break-injection": Topic(
        _("Headers can be added to responses (CRLF)"),
        _("Refuse line breaks in values that become headers."),
    ),
    "shellshock": Topic(
        _("The server is vulnerable to Shellshock"),
        _("Update Bash, and stop using CGI scripts that call it."),
    ),
    "log4shell": Topic(
        _("The server is vulnerable to Log4Shell"),
        _("Update Log4j to 2.17.1 or later."),
    ),
    "apache-path-traversal": Topic(
        _("Apache 2.4.49 or 2.4.50 lets visitors read files and run programs"),
        _("Update Apache to 2.4.51 or later, and restart it."),
    ),
    "vulnerable-library": Topic(
        _("A JavaScript library with known vulnerabilities is used"),
        _("Update the library to a version without known vulnerabilities."),
    ),
    "library-ended": Topic(
        _("A JavaScript library without security updates is used"),
        _("Replace it with a version that still gets security updates."),
    ),
    "software-ended": Topic(
        _("The website runs on software without security updates"),
        _("Update it to a version that is still supported."),
    ),
    "script-host-new": Topic(
        _("A script of a host that you do not know is loaded"),
        _("Confirm the host if you added it; otherwise remove the script, and find out how it got there."),
    ),
    "script-changed": Topic(
        _("A pinned script has changed"),
        _("Compare the script with the version that you know: pin it again, or remove it."),
    ),
}
_TEXTS = frozenset(text for topic in TOPICS.values() for text in topic)


def translate(text: str) -> str:
    """Translate a title or fix of a known topic; return other texts unchanged."""
    return gettext(text) if is_known(text) else text


def is_known(text: str) -> bool:
    """Return whether ``text`` is a title or fix of a known topic, so that ``translate`` changes it."""
    return text in _TEXTS


def title_of(problem: str) -> str:
    """Return the translated title of a topic by its id; empty for other problems."""
    return gettext(TOPICS[problem].title) if problem in TOPICS else ""


def fix_of(problem: str) -> str:
    """Return the translated fix of a topic by its id; empty for other problems."""
    return gettext(TOPICS[problem].fix) if problem in TOPICS else ""


def translated_fix_of(problem: str) -> str:
    """Return the fix of a topic in another language than English; empty in English and for other problems."""
    fix = fix_of(problem)
    return "" if problem not in TOPICS or fix == TOPICS[problem].fix else fix
