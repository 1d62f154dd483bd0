"""Words for testssl.sh's checks of the certificate, HTTP headers and cookies."""

_CERTIFICATE = "Install a certificate for this name that browsers trust, with its chain."
_REISSUE = "Have the certificate issued again by a public certificate authority."
_RENEW = "Renew the certificate, and automate its renewal."
_COOKIES = "Set the Secure and HttpOnly flags on every cookie that allows them."
_HSTS = "Send Strict-Transport-Security once, with a max-age of at least half a year."
_PINS = "Stop sending Public-Key-Pins: browsers no longer support it."
_WARNING = "Browsers warn visitors or turn them away."

# By the id of version 3.0: the name, what its finding means to an owner, and the remedy.
SITE_WORDS = {
    "cert_trust": ("Certificate's name", f"The certificate is for another name. {_WARNING}", _CERTIFICATE),
    "cert_trust_wildcard": (
        "Certificate's wildcard",
        "One key serves many names: where it is stolen, all of them are affected.",
        "Use a certificate for the names of this server alone.",
    ),
    "cert_chain_of_trust": (
        "Certificate's chain of trust",
        f"The certificate cannot be verified. {_WARNING}",
        _CERTIFICATE,
    ),
    "cert_caIssuers": (
        "Certificate's issuer",
        f"The certificate is signed by itself. {_WARNING}",
        _CERTIFICATE,
    ),
    "cert_subjectAltName": (
        "Certificate's alternative names",
        f"The certificate lists no name where browsers look for it. {_WARNING}",
        _CERTIFICATE,
    ),
    "cert_signatureAlgorithm": (
        "Certificate's signature",
        "A weak signature can be forged. Browsers refuse it.",
        _REISSUE,
    ),
    "cert_keySize": (
        "Certificate's key",
        "A short key can be computed by an attacker, who then poses as this website.",
        "Use a new key: RSA of 2048 bits or more, or an elliptic curve.",
    ),
    "cert_keyUsage": (
        "Certificate's key usage",
        "The certificate is used for what it was not issued for.",
        _REISSUE,
    ),
    "cert_extKeyUsage": (
        "Certificate's extended key usage",
        "The certificate is not meant for a web server.",
        _REISSUE,
    ),
    "cert_serialNumberLen": (
        "Certificate's serial number",
        "Its length is not what browsers expect of an authority.",
        _REISSUE,
    ),
    "cert_expirationStatus": (
        "Certificate's expiry",
        f"After its last day, {_WARNING[0].lower()}{_WARNING[1:]}",
        _RENEW,
    ),
    "cert_validityPeriod": (
        "Certificate's lifetime",
        "The certificate is valid for longer than browsers accept.",
        "Use certificates of at most 398 days, and automate their renewal.",
    ),
    "cert_revocation": (
        "Certificate's revocation",
        "Browsers cannot learn that this certificate was revoked.",
        "Use a certificate that names where it is revoked.",
    ),
    "cert_crlRevoked": (
        "Certificate revoked (CRL)",
        f"The authority withdrew this certificate. {_WARNING}",
        _REISSUE,
    ),
    "cert_ocspRevoked": (
        "Certificate revoked (OCSP)",
        f"The authority withdrew this certificate. {_WARNING}",
        _REISSUE,
    ),
    "cert_mustStapleExtension": (
        "Certificate requires OCSP stapling",
        "The certificate demands stapling, which the server does not do: some browsers refuse it.",
        "Switch OCSP stapling on, or use a certificate that does not require it.",
    ),
    "OCSP_stapling": (
        "OCSP stapling",
        "Browsers ask the authority about this certificate, or do not check it at all.",
        "Switch OCSP stapling on if the certificate names an OCSP address.",
    ),
    "certs_list_ordering_problem": (
        "Order of the certificate chain",
        "Some clients cannot verify a chain in the wrong order.",
        "Send the website's certificate first, then each issuer's.",
    ),
    "intermediate_cert_expiration": (
        "Expiry of the intermediate certificate",
        f"After its last day, {_WARNING[0].lower()}{_WARNING[1:]}",
        "Install the authority's current intermediate certificate.",
    ),
    "intermediate_cert_chain": (
        "Intermediate certificate",
        "A certificate of the chain is not as it should be.",
        "Install the authority's current intermediate certificate.",
    ),
    "intermediate_cert_badOCSP": (
        "Intermediate certificate may sign OCSP answers",
        "The holder of this certificate can hide that certificates were revoked.",
        "Install the authority's current intermediate certificate.",
    ),
    "pwnedkeys": (
        "Published private key",
        "The private key is public: anyone can pose as this website.",
        "Make a new key, have a new certificate issued, and have the old one revoked.",
    ),
    "DNS_CAArecord": (
        "CAA record",
        "Any authority may issue certificates for this domain.",
        "Name in DNS who may issue certificates for this domain.",
    ),
    "HSTS": (
        "Strict Transport Security (HSTS)",
        "A visitor's first request may go out over http, where it can be read and changed.",
        "Send Strict-Transport-Security for at least half a year.",
    ),
    "HSTS_time": (
        "Duration of Strict Transport Security (HSTS)",
        "Browsers forget too soon that this website is reached over https only.",
        _HSTS,
    ),
    "HSTS_multiple": (
        "Several Strict-Transport-Security headers",
        "Browsers use the first of them only.",
        _HSTS,
    ),
    "HPKP_error": ("Several Public-Key-Pins headers", "The pins contradict each other.", _PINS),
    "HPKP_SPKIs": ("Number of pinned keys", "A lost key makes the website unreachable.", _PINS),
    "HPKP_SPKImatch": ("Pinned keys", "No pin fits the certificate: browsers refuse it.", _PINS),
    "HPKP_age": ("Duration of pinned keys", "The pins are forgotten too soon to protect.", _PINS),
    "HPKP_backup": ("Backup of pinned keys", "A lost key makes the website unreachable.", _PINS),
    "HTTP_headerAge": (
        "Age header",
        "A cache answers with an age that is no number.",
        "Correct the settings of the cache.",
    ),
    "security_headers": (
        "Security headers",
        "Browsers are not asked for any of their protections against injected scripts and framing.",
        "Send Content-Security-Policy, X-Content-Type-Options and Referrer-Policy.",
    ),
    "insecure_redirect": (
        "Redirect from https to http",
        "Visitors are sent to a connection that can be read and changed.",
        "Redirect to https addresses only.",
    ),
    "ipv4_in_header": (
        "IP address in a header",
        "An address of the internal network shows how the servers are connected.",
        "Remove the address from the headers.",
    ),
    "cookie_bigip_f5": (
        "Cookie of an F5 load balancer",
        "The cookie shows the address of an internal server.",
        "Encrypt the load balancer's cookies.",
    ),
    "cookie_secure": (
        "Cookies without Secure",
        "These cookies are also sent over http, where they can be read.",
        _COOKIES,
    ),
    "cookie_httponly": ("Cookies without HttpOnly", "An injected script can read these cookies.", _COOKIES),
}
