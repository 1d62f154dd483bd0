"""Names of the public categories of weaknesses, published in English; pages translate them."""

from django.utils.translation import gettext_noop as _

TITLES = {
    "cross-site-scripting": _("Cross-site scripting"),
    "sql-injection": _("SQL injection"),
    "code-injection": _("Injection of commands or code"),
    "xml-entities": _("External XML entities"),
    "server-requests": _("Requests forged by the server"),
    "request-forgery": _("Cross-site request forgery"),
    "open-redirect": _("Open redirect"),
    "path-traversal": _("Path traversal"),
    "access-control": _("Missing access control"),
    "outdated-tls": _("Outdated or weak TLS"),
    "certificate": _("Problem with the certificate"),
    "unencrypted": _("Unencrypted connection"),
    "security-header": _("Missing security header"),
    "cookie": _("Cookie without protection"),
    "cross-origin": _("Cross-origin sharing for everyone"),
    "third-party-code": _("Third-party code without a check"),
    "outdated-software": _("Software with known holes"),
    "exposed-data": _("Exposed files or data"),
    "error-details": _("Details of the server in public"),
    "availability": _("Risk of an outage"),
    "weakness": _("Security weakness"),
}
