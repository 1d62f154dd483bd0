"""What testssl.sh's checks are called, and what to do about each: it writes ids and results only."""

_SUITES = "Accept only cipher suites with forward secrecy and authenticated encryption."
_UPDATE = "Update the TLS software."
_CERTIFICATE = "Install a certificate for this name that browsers trust, with its chain."
_RENEW = "Renew the certificate, and let that happen by itself."
_COOKIES = "Set the Secure and HttpOnly flags on every cookie that allows them."

# By id: the name, and the remedy.
WORDS = {
    "SSLv2": ("SSL 2", "Switch SSL 2 off; offer TLS 1.2 and TLS 1.3 only."),
    "SSLv3": ("SSL 3", "Switch SSL 3 off; offer TLS 1.2 and TLS 1.3 only."),
    "TLS1": ("TLS 1.0", "Switch TLS 1.0 off; offer TLS 1.2 and TLS 1.3 only."),
    "TLS1_1": ("TLS 1.1", "Switch TLS 1.1 off; offer TLS 1.2 and TLS 1.3 only."),
    "TLS1_2": ("TLS 1.2", "Offer TLS 1.2."),
    "TLS1_3": ("TLS 1.3", "Offer TLS 1.3."),
    "cipherlist_NULL": ("Cipher suites without encryption", _SUITES),
    "cipherlist_aNULL": ("Cipher suites without authentication", _SUITES),
    "cipherlist_EXPORT": ("Export cipher suites", _SUITES),
    "cipherlist_LOW": ("Cipher suites of 64 bits and DES", _SUITES),
    "cipherlist_3DES_IDEA": ("Cipher suites with 3DES and IDEA", _SUITES),
    "cipherlist_AVERAGE": ("Obsolete cipher suites", _SUITES),
    "cipherlist_OBSOLETED": ("Obsolete cipher suites", _SUITES),
    "cipher_order": ("Order of cipher suites", "Let the server choose the suite, the strongest first."),
    "cert_trust": ("Certificate's name", _CERTIFICATE),
    "cert_chain_of_trust": ("Certificate's chain of trust", _CERTIFICATE),
    "cert_subjectAltName": ("Certificate's alternative names", _CERTIFICATE),
    "cert_signatureAlgorithm": ("Certificate's signature", _CERTIFICATE),
    "cert_keySize": ("Certificate's key", "Use a new key: RSA of 2048 bits or more, or an elliptic curve."),
    "cert_expirationStatus": ("Certificate's expiry", _RENEW),
    "cert_notAfter": ("Certificate's last day", _RENEW),
    "cert_revocation": ("Certificate's revocation", "Use a certificate that names where it is revoked."),
    "DNS_CAArecord": ("CAA record", "Name in DNS who may issue certificates for this domain."),
    "HSTS": ("Strict Transport Security (HSTS)", "Send Strict-Transport-Security for at least half a year."),
    "security_headers": (
        "Security headers",
        "Send Content-Security-Policy, X-Content-Type-Options and Referrer-Policy.",
    ),
    "cookie_secure": ("Cookies without Secure", _COOKIES),
    "cookie_httponly": ("Cookies without HttpOnly", _COOKIES),
    "heartbleed": ("Heartbleed", "Update OpenSSL, replace key and certificate, and end every session."),
    "CCS": ("CCS injection", _UPDATE),
    "ticketbleed": ("Ticketbleed", _UPDATE),
    "ROBOT": ("ROBOT", f"{_UPDATE} Switch off suites with RSA key exchange."),
    "secure_renego": ("Secure renegotiation", _UPDATE),
    "secure_client_renego": ("Renegotiation by clients", "Switch off renegotiation that clients begin."),
    "CRIME_TLS": ("CRIME", "Switch TLS compression off."),
    "BREACH": ("BREACH", "Do not compress answers that hold secrets and what a visitor sent."),
    "POODLE_SSL": ("POODLE", "Switch SSL 3 off."),
    "fallback_SCSV": ("Downgrade protection (TLS_FALLBACK_SCSV)", _UPDATE),
    "SWEET32": ("SWEET32", "Switch off suites with 3DES, IDEA and other ciphers of 64-bit blocks."),
    "FREAK": ("FREAK", "Switch off export suites."),
    "DROWN": ("DROWN", "Switch SSL 2 off wherever this key is used."),
    "LOGJAM": ("Logjam", "Switch off export suites."),
    "LOGJAM-common_primes": (
        "Logjam: common primes",
        "Use own Diffie-Hellman parameters of 2048 bits or more.",
    ),
    "BEAST": ("BEAST", "Switch TLS 1.0 off."),
    "BEAST_CBC_TLS1": ("BEAST: CBC suites with TLS 1.0", "Switch TLS 1.0 off."),
    "LUCKY13": ("LUCKY13", f"{_UPDATE} Prefer suites with authenticated encryption."),
    "RC4": ("RC4", "Switch off suites with RC4."),
    "winshock": ("Winshock", "Install the updates of Windows."),
}


def name_of(check: str) -> str:
    """What ``check`` is called; its id in words where nothing better is known."""
    return WORDS[check][0] if check in WORDS else check.replace("_", " ")


def remedy_of(check: str) -> str:
    """What to do about ``check``, if that is known."""
    return WORDS[check][1] if check in WORDS else ""
