"""Labels of what scans saw: kinds, problems, and why the expiry date of a domain is not known."""

from django.utils.translation import gettext_lazy as _

from signed_api.inventory import CERTIFICATE, DOMAIN

KINDS = {CERTIFICATE: _("Certificate"), DOMAIN: _("Domain")}
PROBLEMS = {
    "expired": _("Browsers refuse it: it has expired"),
    "not_yet_valid": _("Browsers refuse it: it is not valid yet"),
    "other_name": _("Browsers refuse it: it is for other names"),
    "not_trusted": _("Browsers refuse it: no public authority signed it"),
}
OTHER_PROBLEM = _("Browsers refuse it")
UNREAD_DOMAIN = {
    "no_service": _("Its expiry date is not known: this service does not ask registries."),
    "of_platform": _("It has no expiry date of its own: it is a name at a platform, or unregistered."),
    "no_server": _("Its expiry date is not known: the registry of this ending does not publish it."),
    "not_found": _("Its expiry date is not known: the registry shows nobody an entry of this domain."),
    "no_day": _("Its expiry date is not known: the registry does not publish it."),
}
UNANSWERED = _("The registry did not answer the last scan; the next one asks again.")


def unread_domain(reason: str) -> str:
    """Return why the last scan could not read the expiry date of a domain."""
    return str(UNREAD_DOMAIN.get(reason, UNANSWERED))
