"""Fixes by stack: lines for a configuration or for code, not translated."""

from typing import NamedTuple


class StackFix(NamedTuple):
    """A stack (server, language or framework) and its lines of code."""

    stack: str
    code: str


def _header(name: str, value: str) -> dict[str, str]:
    return {
        "nginx": f'add_header {name} "{value}" always;',
        "Apache": f'Header always set {name} "{value}"',
        "Caddy": f'header {name} "{value}"',
    }


_PROTOCOLS = {
    "nginx": "ssl_protocols TLSv1.2 TLSv1.3;",
    "Apache": "SSLProtocol -all +TLSv1.2 +TLSv1.3",
    "HAProxy": "ssl-default-bind-options ssl-min-ver TLSv1.2",
}
_CIPHERS = {
    "nginx": "ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20;",
    "Apache": "SSLCipherSuite ECDHE+AESGCM:ECDHE+CHACHA20",
    "HAProxy": "ssl-default-bind-ciphers ECDHE+AESGCM:ECDHE+CHACHA20",
}

_FIXES: dict[str, dict[str, str]] = {
    "ssl-offered": _PROTOCOLS,
    "tls-1-0-offered": _PROTOCOLS,
    "tls-1-1-offered": _PROTOCOLS,
    "weak-cipher-suites": _CIPHERS,
    "cipher-suites-without-protection": _CIPHERS,
    "weak-key-exchange": _CIPHERS,
    "caa-record": {"DNS": 'example.com.  CAA  0 issue "letsencrypt.org"'},
    "mail-senders": {"DNS": 'example.com.  TXT  "v=spf1 include:_spf.mail-provider.example -all"'},
    "mail-policy": {"DNS": '_dmarc.example.com.  TXT  "v=DMARC1; p=reject; rua=mailto:dmarc@example.com"'},
    "mail-encryption": {
        "DNS": '_mta-sts.example.com.   TXT  "v=STSv1; id=20261101"\n'
        '_smtp._tls.example.com. TXT  "v=TLSRPTv1; rua=mailto:tls@example.com"',
        "nginx": "server {\n    listen 443 ssl;\n    server_name mta-sts.example.com;\n"
        "    location = /.well-known/mta-sts.txt {\n        default_type text/plain;\n"
        '        return 200 "version: STSv1\\nmode: testing\\nmx: mail.example.com\\nmax_age: 604800\\n";\n'
        "    }\n}",
        "Apache": "<VirtualHost *:443>\n    ServerName mta-sts.example.com\n    SSLEngine on\n"
        "    Alias /.well-known/mta-sts.txt /var/www/mta-sts.txt\n</VirtualHost>",
    },
    "https-not-enforced": {
        "nginx": "server {\n    listen 80;\n    server_name www.example.com;\n"
        "    return 301 https://www.example.com$request_uri;\n}",
        "Apache": "<VirtualHost *:80>\n    ServerName www.example.com\n"
        "    Redirect permanent / https://www.example.com/\n</VirtualHost>",
        "Django": "SECURE_SSL_REDIRECT = True",
    },
    "strict-transport-security": _header("Strict-Transport-Security", "max-age=31536000")
    | {"Django": "SECURE_HSTS_SECONDS = 31_536_000"},
    "content-security-policy": _header(
        "Content-Security-Policy", "default-src 'self'; object-src 'none'; base-uri 'self'"
    ),
    "mixed-content": _header("Content-Security-Policy", "upgrade-insecure-requests"),
    "cross-origin-sharing": {
        "nginx": "map $http_origin $allowed {\n    https://app.example.com $http_origin;\n}\n"
        "add_header Access-Control-Allow-Origin $allowed;",
        "Apache": 'SetEnvIf Origin "^https://app\\.example\\.com$" ALLOWED=$0\n'
        "Header set Access-Control-Allow-Origin %{ALLOWED}e env=ALLOWED",
        "Express": 'app.use(cors({ origin: ["https://app.example.com"], credentials: true }))',
    },
    "clickjacking": _header("Content-Security-Policy", "frame-ancestors 'self'"),
    "content-type-options": _header("X-Content-Type-Options", "nosniff"),
    "referrer-policy": _header("Referrer-Policy", "strict-origin-when-cross-origin"),
    "permissions-policy": _header("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
    "cookie-without-secure": {
        "PHP": "session.cookie_secure = On",
        "Django": "SESSION_COOKIE_SECURE = True\nCSRF_COOKIE_SECURE = True",
        "Express": 'response.cookie("name", value, { secure: true })',
        "nginx": "proxy_cookie_flags ~ secure;",
    },
    "cookie-without-httponly": {
        "PHP": "session.cookie_httponly = On",
        "Django": "SESSION_COOKIE_HTTPONLY = True",
        "Express": 'response.cookie("name", value, { httpOnly: true })',
        "nginx": "proxy_cookie_flags ~ httponly;",
    },
    "cookie-without-samesite": {
        "PHP": "session.cookie_samesite = Lax",
        "Django": 'SESSION_COOKIE_SAMESITE = "Lax"',
        "Express": 'response.cookie("name", value, { sameSite: "lax" })',
        "nginx": "proxy_cookie_flags ~ samesite=lax;",
    },
    "cookie-prefix": {
        "PHP": "session.name = __Host-id\nsession.cookie_secure = On\nsession.cookie_path = /",
        "Express": 'response.cookie("__Host-id", value, { secure: true, path: "/" })',
    },
    "server-version": {
        "nginx": "server_tokens off;",
        "Apache": "ServerTokens Prod\nServerSignature Off",
        "PHP": "expose_php = Off",
        "Express": 'app.disable("x-powered-by")',
    },
    "error-details": {
        "PHP": "display_errors = Off",
        "Django": "DEBUG = False",
        "Express": "NODE_ENV=production",
    },
    "directory-listing": {"nginx": "autoindex off;", "Apache": "Options -Indexes"},
    "repository-exposed": {
        "nginx": "location ~ /\\.(?!well-known) {\n    return 404;\n}",
        "Apache": 'RedirectMatch 404 "/\\.(?!well-known)"',
    },
    "passwords-exposed": {
        "nginx": "location ~ /\\.(?!well-known)|\\.(bak|old|orig|save|swp)$ {\n    return 404;\n}",
        "Apache": 'RedirectMatch 404 "/\\.(?!well-known)|\\.(bak|old|orig|save|swp)$"',
    },
    "backup-exposed": {
        "nginx": "location ~ \\.(sql|zip|tar|gz|sqlite3?|bak)$ {\n    return 404;\n}",
        "Apache": 'RedirectMatch 404 "\\.(sql|zip|tar|gz|sqlite3?|bak)$"',
    },
    "server-details": {
        "nginx": "location ~ ^/(server-|actuator/|(phpinfo|info|test|i)\\.php$) {\n    return 404;\n}",
        "Apache": '<LocationMatch "^/(server-|actuator/|(phpinfo|info|test|i)\\.php$)">\n'
        "    Require local\n</LocationMatch>",
    },
    "vulnerable-library": {
        "npm": "npm install jquery@latest",
        "WordPress": "wp core update && wp plugin update --all && wp theme update --all",
        "HTML": '<script src="/js/jquery-3.7.1.min.js"></script>',
    },
    "library-ended": {
        "npm": "npm install bootstrap@latest",
        "WordPress": "wp plugin update --all && wp theme update --all",
    },
    "software-ended": {
        "Debian": "apt install php8.4-fpm && apt purge 'php7.*' 'php8.1*'",
        "WordPress": "wp core update",
        "Drupal": "composer update 'drupal/core-*' --with-all-dependencies && drush updatedb",
    },
    "sql-injection": {
        "PHP": '$found = $pdo->prepare("SELECT * FROM orders WHERE id = ?");\n$found->execute([$id]);',
        "Python": 'cursor.execute("SELECT * FROM orders WHERE id = %s", [id])',
        "Java": 'var found = connection.prepareStatement("SELECT * FROM orders WHERE id = ?");\n'
        "found.setLong(1, id);",
        "Node.js": 'await client.query("SELECT * FROM orders WHERE id = $1", [id])',
    },
    "command-injection": {
        "PHP": 'proc_open(["convert", $from, $to], [], $pipes);',
        "Python": 'subprocess.run(["convert", from_, to], check=True)',
        "Java": 'new ProcessBuilder("convert", from, to).start();',
        "Node.js": 'execFile("convert", [from, to])',
    },
}


def fixes_by_stack(problem: str) -> tuple[StackFix, ...]:
    """Return the fixes of a problem by its id; empty for most problems."""
    return tuple(StackFix(stack, code) for stack, code in _FIXES.get(problem, {}).items())
