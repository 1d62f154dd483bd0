"""Words for testssl.sh's checks of protocols, cipher suites and known attacks."""

_SUITES = "Accept only cipher suites with forward secrecy and authenticated encryption (AES-GCM, ChaCha20)."
_MODERN = "offer TLS 1.2 and TLS 1.3 only."
_UPDATE = "Update the web server and its TLS library."
_EXPIRED_PROTOCOL = "has known weaknesses, and browsers no longer use it."
_WEAK_CURVES = "Key exchange relies on elliptic curves or groups that are too weak."
_TOLERANCE = "A connection fails or is slow where a client offers something that the server does not know."

# By the id of version 3.0: the name, what its finding means to an owner, and the remedy.
TLS_WORDS = {
    "SSLv2": ("SSL 2", "SSL 2 is broken: its connections can be read.", f"Switch SSL 2 off; {_MODERN}"),
    "SSLv3": ("SSL 3", "SSL 3 is broken: its connections can be read.", f"Switch SSL 3 off; {_MODERN}"),
    "TLS1": ("TLS 1.0", f"TLS 1.0 {_EXPIRED_PROTOCOL}", f"Switch TLS 1.0 off; {_MODERN}"),
    "TLS1_1": ("TLS 1.1", f"TLS 1.1 {_EXPIRED_PROTOCOL}", f"Switch TLS 1.1 off; {_MODERN}"),
    "TLS1_2": ("TLS 1.2", "Many clients need TLS 1.2 for a safe connection.", "Offer TLS 1.2."),
    "TLS1_3": ("TLS 1.3", "TLS 1.3 is the safest and fastest version of TLS.", "Offer TLS 1.3."),
    "early_data": (
        "TLS 1.3 early data (0-RTT)",
        "An attacker in between can send a visitor's first request again.",
        "Switch early data off, or accept it only for requests that change nothing.",
    ),
    "TLS_misses_extension_23": (
        "Extended master secret",
        "Without this extension, sessions of TLS 1.2 can be mixed up by an attacker in between.",
        _UPDATE,
    ),
    "TLS_session_ticket": (
        "Lifetime of session tickets",
        "A stolen ticket key opens all connections of the tickets' lifetime.",
        "Replace the keys of session tickets at least once a day.",
    ),
    "cipherlist_NULL": (
        "Cipher suites without encryption",
        "Anyone in between can read such a connection.",
        _SUITES,
    ),
    "cipherlist_aNULL": (
        "Cipher suites without authentication",
        "Anyone in between can pose as the server on such a connection.",
        _SUITES,
    ),
    "cipherlist_EXPORT": (
        "Export cipher suites",
        "Their keys are so short that they are broken within hours.",
        _SUITES,
    ),
    "cipherlist_LOW": (
        "Cipher suites of 64 bits, DES, RC2 or RC4",
        "Such a connection can be decrypted with affordable effort.",
        _SUITES,
    ),
    "cipherlist_3DES_IDEA": (
        "Cipher suites with 3DES and IDEA",
        "Their small blocks give parts of long connections away (SWEET32).",
        _SUITES,
    ),
    "cipherlist_AVERAGE": (
        "Obsolete cipher suites",
        "Suites in CBC mode or without forward secrecy have been attacked and have modern successors.",
        _SUITES,
    ),
    "cipherlist_GOOD": (
        "Strong cipher suites without forward secrecy",
        "A stolen key decrypts connections that were recorded earlier.",
        _SUITES,
    ),
    "cipherlist_STRONG": (
        "Strong cipher suites with forward secrecy",
        "Modern clients expect such suites.",
        _SUITES,
    ),
    "cipher-tls1_2": (
        "Weak cipher suites with TLS 1.2",
        "The server accepts suites that are broken or outdated, next to better ones.",
        _SUITES,
    ),
    "cipher-tls1_3": (
        "Weak cipher suites with TLS 1.3",
        "The server accepts suites that protect less than others.",
        _SUITES,
    ),
    "cipher_suites": (
        "Weak cipher suites",
        "The server accepts suites that are broken or outdated.",
        _SUITES,
    ),
    "cipher_order": (
        "Order of cipher suites",
        "The client chooses the suite, so that an outdated client may choose a weak one.",
        "Let the server choose the suite, the strongest first.",
    ),
    "PFS": (
        "Forward secrecy",
        "A key that is stolen one day decrypts all connections that were recorded before.",
        _SUITES,
    ),
    "PFS_ECDHE_curves": (
        "Elliptic curves for key exchange",
        _WEAK_CURVES,
        "Offer the curves X25519 and P-256.",
    ),
    "DH_groups": (
        "Diffie-Hellman groups",
        _WEAK_CURVES,
        "Use Diffie-Hellman groups of 2048 bits or more, or none.",
    ),
    "FS_KEMs": (
        "Key exchange safe from quantum computers",
        "Connections that are recorded today may be decrypted by quantum computers one day.",
        "Offer X25519MLKEM768 as soon as the TLS library supports it.",
    ),
    "FS_TLS12_sig_algs": (
        "Signature algorithms with TLS 1.2",
        "The server signs its part of the key exchange with a weak algorithm.",
        "Allow signatures with SHA-256 or better only.",
    ),
    "FS_TLS13_sig_algs": (
        "Signature algorithms with TLS 1.3",
        "The server signs its part of the key exchange with a weak algorithm.",
        "Allow signatures with SHA-256 or better only.",
    ),
    "pre_128cipher": ("Limit of 128 cipher suites", _TOLERANCE, _UPDATE),
    "GREASE": ("Tolerance of unknown extensions (GREASE)", _TOLERANCE, _UPDATE),
    "heartbleed": (
        "Heartbleed",
        "Anyone can read parts of the server's memory, the private key among them.",
        "Update OpenSSL, replace key and certificate, and end every session.",
    ),
    "CCS": ("CCS injection", "An attacker in between can read a connection.", "Update OpenSSL."),
    "ticketbleed": (
        "Ticketbleed",
        "Anyone can read parts of the load balancer's memory.",
        "Update the F5 load balancer.",
    ),
    "opossum": (
        "Opossum",
        "An attacker in between can make the answers to a visitor's requests arrive out of step.",
        "Switch off the upgrade from http to TLS within a connection (RFC 2817).",
    ),
    "starttls_injection": (
        "STARTTLS injection",
        "An attacker in between can put commands before a protected connection.",
        "Update the mail server.",
    ),
    "ROBOT": (
        "ROBOT",
        "Recorded connections can be decrypted with the server's help.",
        f"{_UPDATE} Switch off suites with RSA key exchange.",
    ),
    "secure_renego": (
        "Secure renegotiation",
        "An attacker in between can put a request before a visitor's.",
        _UPDATE,
    ),
    "secure_client_renego": (
        "Renegotiation by clients",
        "Each renegotiation costs the server far more than the client: a way to overload it.",
        "Switch off renegotiation that clients begin.",
    ),
    "CRIME_TLS": (
        "CRIME",
        "The length of compressed data gives cookies away.",
        "Switch TLS compression off.",
    ),
    "BREACH": (
        "BREACH",
        "The length of compressed pages can give away secrets in them, if pages repeat what a visitor sent.",
        "Do not compress answers that hold secrets and what a visitor sent.",
    ),
    "POODLE_SSL": ("POODLE", "Cookies can be decrypted on SSL 3 connections.", "Switch SSL 3 off."),
    "fallback_SCSV": (
        "Downgrade protection (TLS_FALLBACK_SCSV)",
        "An attacker in between can force an older version of TLS.",
        f"{_UPDATE} Or {_MODERN}",
    ),
    "SWEET32": (
        "SWEET32",
        "Ciphers with small blocks give parts of long connections away.",
        "Switch off suites with 3DES, IDEA and other ciphers of 64-bit blocks.",
    ),
    "FREAK": (
        "FREAK",
        "An attacker in between can force a key that is broken within hours.",
        "Switch off export suites.",
    ),
    "DROWN": (
        "DROWN",
        "SSL 2 anywhere with this key opens all its connections.",
        "Switch SSL 2 off wherever this key is used.",
    ),
    "LOGJAM": (
        "Logjam",
        "An attacker in between can force a key that can be broken.",
        "Switch off export suites.",
    ),
    "LOGJAM-common_primes": (
        "Common Diffie-Hellman primes (Logjam)",
        "Many servers share this Diffie-Hellman group; short ones can be broken for all of them at once.",
        "Use own Diffie-Hellman parameters of 2048 bits or more.",
    ),
    "BEAST": ("BEAST", "Cookies can be decrypted on connections of TLS 1.0.", "Switch TLS 1.0 off."),
    "BEAST_CBC_SSL3": (
        "BEAST: CBC suites with SSL 3",
        "Cookies can be decrypted on connections of SSL 3.",
        "Switch SSL 3 off.",
    ),
    "BEAST_CBC_TLS1": (
        "BEAST: CBC suites with TLS 1.0",
        "Cookies can be decrypted on connections of TLS 1.0.",
        "Switch TLS 1.0 off.",
    ),
    "LUCKY13": (
        "LUCKY13",
        "The time that the server takes for suites in CBC mode may give data away.",
        f"{_UPDATE} Prefer suites with authenticated encryption.",
    ),
    "RC4": ("RC4", "Cookies can be decrypted on connections with RC4.", "Switch off suites with RC4."),
    "winshock": (
        "Winshock",
        "Anyone can run programs on the server (MS14-066).",
        "Install the updates of Windows.",
    ),
}
