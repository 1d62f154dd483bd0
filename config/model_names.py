"""Translated names of models and fields, for staff; Django derives these from the code, in English."""

from typing import Any

from django.apps import apps
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# For the collection of texts to translate; a name that is missing here stays English.
NAMES = (
    _("account"),
    _("action"),
    _("archive reason"),
    _("archived at"),
    _("archived by"),
    _("at"),
    _("author"),
    _("body"),
    _("by"),
    _("category"),
    _("checks every"),
    _("completed at"),
    _("coverage"),
    _("created at"),
    _("created by"),
    _("description"),
    _("detail"),
    _("enabled"),
    _("ended at"),
    _("end reason"),
    _("ended by"),
    _("ends on"),
    _("event"),
    _("evidence"),
    _("expires at"),
    _("features"),
    _("file name"),
    _("finding"),
    _("findings"),
    _("fingerprint"),
    _("first seen"),
    _("fixed"),
    _("fixed at"),
    _("gone at"),
    _("hint"),
    _("History"),
    _("host"),
    _("imported at"),
    _("includes evidence"),
    _("is internal"),
    _("kind"),
    _("last run at"),
    _("last seen"),
    _("last used at"),
    _("link"),
    _("link id"),
    _("location"),
    _("locations count"),
    _("name"),
    _("new"),
    _("past due since"),
    _("person"),
    _("plan"),
    _("reason"),
    _("reference"),
    _("references"),
    _("rejected"),
    _("rejects"),
    _("remediation"),
    _("renews"),
    _("reopened"),
    _("retires at"),
    _("reviewed at"),
    _("revoked at"),
    _("role"),
    _("rows"),
    _("rule"),
    _("scanned at"),
    _("scanner"),
    _("scope"),
    _("secret"),
    _("severity"),
    _("severity raw"),
    _("sites limit"),
    _("slug"),
    _("starts on"),
    _("state"),
    _("status"),
    _("taken back at"),
    _("taken back because"),
    _("taken back by"),
    _("target"),
    _("title"),
    _("test secret"),
    _("token"),
    _("triage until"),
    _("updated"),
    _("updated at"),
    _("urls checked"),
    _("user"),
    _("verification method"),
    _("verified at"),
    _("verified by"),
    _("version"),
    _("website"),
    _("websites"),
    _("address"),
    _("attempt"),
    _("cancel requested at"),
    _("due at"),
    _("engine"),
    _("exit code"),
    _("lease until"),
    _("log"),
    _("outcome"),
    _("portal website"),
    _("priority"),
    _("started at"),
    _("worker"),
)
# Words of the code, for which people have others.
OTHER_NAMES = {
    "occurrences": _("further locations"),
    "source": _("scanner"),
    "source severity": _("severity by the scanner"),
    "sources": _("scanners"),
}
MODELS = {
    "badge": (_("badge"), _("badges")),
    "bucket count": (_("count"), _("counts")),
    "bulk load": (_("bulk load"), _("bulk loads")),
    "coverage scope": (_("scope"), _("scopes")),
    "day count": (_("count"), _("counts")),
    "feed cursor": (_("position in the changes"), _("positions in the changes")),
    "finding event": (_("event of a finding"), _("events of findings")),
    "host count": (_("count"), _("counts")),
    "import change": (_("change by an import"), _("changes by imports")),
    "invitation": (_("invitation"), _("invitations")),
    "issue tracker": (_("issue tracker"), _("issue trackers")),
    "last visit": (_("last visit"), _("last visits")),
    "link event": (_("event of a link"), _("events of links")),
    "membership change": (_("change of a member"), _("changes of members")),
    "nonce": (_("nonce"), _("nonces")),
    "open count": (_("count"), _("counts")),
    "pending notification": (_("pending notification"), _("pending notifications")),
    "problem count": (_("count"), _("counts")),
    "report job": (_("received report"), _("received reports")),
    "revision": (_("data version"), _("data versions")),
    "secret use": (_("use of a secret"), _("uses of secrets")),
    "share opening": (_("opening of a share link"), _("openings of share links")),
    "subscription": (_("subscription"), _("subscriptions")),
    "upload": (_("upload"), _("uploads")),
    "user language": (_("language of a person"), _("languages of people")),
    "website summary": (_("website summary"), _("website summaries")),
    "week count": (_("count"), _("counts")),
}

# The names of Django's and allauth's apps, which breadcrumbs show.
APPS = {"auth": _("People"), "mfa": _("People")}


def translate_names() -> None:
    """Replace the derived names of our models and their fields, and of apps; migrations do not see this."""
    for label, app_name in APPS.items():
        apps.get_app_config(label).verbose_name = app_name
    translated = {str(name): name for name in NAMES} | OTHER_NAMES
    for model in apps.get_models():
        if model.__module__.startswith(("dashboard_api.", "portal.")):
            options: Any = model._meta  # noqa: SLF001 - the documented API of models
            if str(options.verbose_name) in MODELS:
                options.verbose_name, options.verbose_name_plural = MODELS[str(options.verbose_name)]
            for field in options.get_fields():
                name = getattr(field, "verbose_name", None)
                if name is not None and not isinstance(name, Promise):
                    field.verbose_name = translated.get(name, name)
