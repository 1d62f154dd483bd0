"""Rules of the built-in engines: severity, title, description, remediation and CWE number."""

from typing import NamedTuple


class Rule(NamedTuple):
    """A rule. Its key in RULES never changes, because findings are recognised by it."""

    severity: str
    title: str
    description: str
    remediation: str
    cwe: int


RULES = {
    "https-not-offered": Rule(
        "high",
        "The website does not offer https",
        "The connection is not encrypted, so others in the network can read and change what is sent.",
        "Set up https with a certificate of a public authority, and redirect http to it.",
        319,
    ),
    "https-not-enforced": Rule(
        "medium",
        "Visitors of http:// are not redirected to https",
        "Visitors who type its name stay on a connection that others can read and change.",
        "Redirect every request on http to the same address on https.",
        319,
    ),
    "certificate-expired": Rule(
        "high",
        "The certificate has expired",
        "Browsers show a warning instead of the website.",
        "Renew the certificate, and let the server renew it by itself from now on.",
        298,
    ),
    "certificate-expires-soon": Rule(
        "medium",
        "The certificate expires soon",
        "Browsers will show a warning instead of the website.",
        "Renew the certificate, and let the server renew it by itself from now on.",
        298,
    ),
    "certificate-not-yet-valid": Rule(
        "high",
        "The certificate is not valid yet",
        "Browsers show a warning instead of the website until the day on which the certificate begins.",
        "Use a certificate that is valid today, and keep this one for the day on which it begins.",
        298,
    ),
    "certificate-other-name": Rule(
        "high",
        "The certificate is for another name",
        "Browsers show a warning instead of the website.",
        "Use a certificate that names this host; if https shows another website, set up https for this one.",
        297,
    ),
    "certificate-not-trusted": Rule(
        "high",
        "Browsers do not trust the certificate",
        "Browsers show a warning instead of the website. The evidence says what is wrong.",
        "Use a certificate of a public authority, and send its current intermediate certificates with it.",
        295,
    ),
    "certificate-weak-key": Rule(
        "medium",
        "The key or the signature of the certificate is weak",
        "Keys of RSA below 2,048 bits and of elliptic curves below 224 can be broken, and SHA-1 forged.",
        "Issue a new certificate with an RSA key of 2,048 bits, or an elliptic one of 256, and SHA-256.",
        326,
    ),
    "tls-1-0-offered": Rule(
        "medium",
        "TLS 1.0 is offered",
        "TLS 1.0 has known weaknesses, and browsers no longer use it.",
        "Turn TLS 1.0 off, and offer TLS 1.2 and 1.3 only.",
        326,
    ),
    "tls-1-1-offered": Rule(
        "medium",
        "TLS 1.1 is offered",
        "TLS 1.1 has known weaknesses, and browsers no longer use it.",
        "Turn TLS 1.1 off, and offer TLS 1.2 and 1.3 only.",
        326,
    ),
    "tls-1-3-not-offered": Rule(
        "info",
        "TLS 1.3 is not offered",
        "TLS 1.3 is quicker and leaves out what was weak in earlier versions.",
        "Turn TLS 1.3 on; every current web server has it.",
        327,
    ),
    "hsts-missing": Rule(
        "medium",
        "Strict-Transport-Security (HSTS) is missing",
        "Without it, the first visit can be led to an unencrypted copy of the website.",
        "Send Strict-Transport-Security: max-age=31536000 on every response by https.",
        319,
    ),
    "hsts-short": Rule(
        "low",
        "Strict-Transport-Security (HSTS) ends too soon",
        "Browsers forget after max-age that the website must be visited by https.",
        "Send a max-age of at least 15552000 seconds, which are six months.",
        319,
    ),
    "csp-missing": Rule(
        "medium",
        "The Content-Security-Policy is missing",
        "Without it, an injected script runs with all rights of the website.",
        "Send a Content-Security-Policy that allows your own scripts only, without unsafe-inline.",
        693,
    ),
    "csp-unsafe-scripts": Rule(
        "low",
        "The Content-Security-Policy allows injected scripts",
        "With unsafe-inline, unsafe-eval or any host, the policy does not stop injected scripts.",
        "Allow scripts by nonce or hash, and remove unsafe-inline and unsafe-eval.",
        693,
    ),
    "framing-allowed": Rule(
        "medium",
        "Other websites may show this one in a frame (clickjacking)",
        "Another website can show it invisibly, and have visitors click on it.",
        "Send Content-Security-Policy with frame-ancestors 'self', or X-Frame-Options: SAMEORIGIN.",
        1021,
    ),
    "nosniff-missing": Rule(
        "low",
        "X-Content-Type-Options is missing",
        "Browsers may run a file as a script that was sent as something else.",
        "Send X-Content-Type-Options: nosniff with every response.",
        693,
    ),
    "referrer-policy-weak": Rule(
        "low",
        "The Referrer-Policy sends whole addresses to other websites",
        "Addresses of pages, which may hold secrets, are sent to the websites that they link to.",
        "Send Referrer-Policy: strict-origin-when-cross-origin, or remove the header.",
        200,
    ),
    "cookie-without-secure": Rule(
        "medium",
        "A cookie is sent without Secure",
        "Browsers also send it over http, where others in the network can read it.",
        "Set Secure on every cookie.",
        614,
    ),
    "cookie-without-httponly": Rule(
        "low",
        "A cookie is sent without HttpOnly",
        "An injected script can read it.",
        "Set HttpOnly on every cookie that scripts need not read.",
        1004,
    ),
    "cookie-without-samesite": Rule(
        "low",
        "A cookie is sent without SameSite",
        "Requests that other websites cause carry it, in browsers that have no default.",
        "Set SameSite=Lax or Strict on every cookie.",
        1275,
    ),
    "mixed-content": Rule(
        "medium",
        "The page loads files over http",
        "Browsers block such scripts and styles, and others in the network can change the rest.",
        "Load every file of the page over https.",
        319,
    ),
    "script-without-integrity": Rule(
        "low",
        "Scripts of other websites are loaded without integrity",
        "If the other website is attacked, its scripts run here with all rights.",
        "Add integrity and crossorigin to these scripts, or serve them yourself.",
        353,
    ),
    "any-origin-with-credentials": Rule(
        "high",
        "Any website may read the responses with the visitor's cookies (CORS)",
        "The response allows the origin null, which any website can have, together with credentials.",
        "Name the origins that may read responses in Access-Control-Allow-Origin, and never null.",
        942,
    ),
    "version-shown": Rule(
        "info",
        "Headers show the version of the server",
        "Attackers search for versions with known weaknesses.",
        "Remove versions from headers such as Server and X-Powered-By.",
        200,
    ),
    "directory-listing": Rule(
        "medium",
        "The server lists the files of a directory",
        "Visitors see files that no page links to.",
        "Turn directory listings off in the web server.",
        548,
    ),
    "security-txt-missing": Rule(
        "info",
        "There is no security.txt",
        "People who find a weakness do not know whom to write to (RFC 9116).",
        "Publish /.well-known/security.txt with Contact and Expires.",
        1059,
    ),
    "security-txt-expired": Rule(
        "low",
        "The security.txt has expired",
        "Readers must not trust it after the time in Expires (RFC 9116).",
        "Check its contacts, and set a new Expires, less than a year ahead.",
        1059,
    ),
    "caa-missing": Rule(
        "info",
        "No CAA record limits who may issue certificates",
        "Every authority may issue a certificate for this name, also one that you never use.",
        "Add a CAA record that names the authorities you use.",
        295,
    ),
    "spf-missing": Rule(
        "low",
        "The domain does not say which servers send its mail (SPF)",
        "Others can send mail in its name more easily. This also holds for domains that send none.",
        'Publish a TXT record: "v=spf1 -all" if the domain sends no mail, or else your mail servers.',
        290,
    ),
    "spf-allows-everyone": Rule(
        "medium",
        "The SPF record allows every server to send mail",
        "Mail that others send in the name of the domain passes the check.",
        "Name your mail servers, and end the record with -all.",
        290,
    ),
    "dmarc-missing": Rule(
        "low",
        "The domain has no DMARC policy",
        "Receivers are not asked to refuse mail that others send in the name of the domain.",
        "Publish a TXT record at _dmarc: begin with p=none and reports, then quarantine, then reject.",
        290,
    ),
    "dmarc-not-enforced": Rule(
        "low",
        "The DMARC policy does not ask receivers to refuse forged mail",
        "Receivers may deliver mail that others send in the name of the domain.",
        "Once the reports show only your own mail servers, set the policy to quarantine or reject.",
        290,
    ),
    "dnssec-missing": Rule(
        "info",
        "The domain is not signed (DNSSEC)",
        "Resolvers cannot tell a forged response about the domain from a real one.",
        "Turn on DNSSEC at the DNS provider, and enter its DS record at the registrar.",
        350,
    ),
    "dnssec-bogus": Rule(
        "high",
        "The signatures of the domain are wrong (DNSSEC)",
        "Resolvers that check signatures refuse the domain, so many visitors cannot reach it.",
        "Sign the zone again, or correct the DS record at the registrar; removing it turns DNSSEC off.",
        347,
    ),
    "cname-dangling": Rule(
        "high",
        "A name of the domain points to a name that does not exist",
        "Anyone who can register the missing name can show another website under yours.",
        "Remove the CNAME record, or set up the name that it points to.",
        350,
    ),
}
