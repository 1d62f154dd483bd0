"""The groups of staff, which every new database has: what analysts, operators and support may do.

A group that exists is left as it is, so that a deployment can change it.
"""

from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.db import connections

VIEW_FINDINGS = (
    "dashboard_api.view_finding",
    "dashboard_api.view_analystnote",
    "dashboard_api.view_website",
    "dashboard_api.view_source",
    "dashboard_api.view_coverage",
    "dashboard_api.view_importrun",
    "dashboard_api.view_scanjob",
    "dashboard_api.view_enginerun",
    "dashboard_api.view_account",
    "dashboard_api.view_entitlement",
    "dashboard_api.view_sitelink",
)
VIEW_AUDIT = ("audit.view_auditevent",)
VIEW_PORTAL = (
    "portal.view_account",
    "portal.view_website",
    "portal.view_membership",
    "portal.view_sharelink",
)
GROUPS: dict[str, tuple[str, ...]] = {
    "Analysts": (
        *VIEW_FINDINGS,
        "dashboard_api.change_finding",
        "dashboard_api.add_analystnote",
        "dashboard_api.change_analystnote",
        "portal.see_as_customer",
    ),
    "Operators": (
        *VIEW_FINDINGS,
        *VIEW_PORTAL,
        *VIEW_AUDIT,
        *(f"dashboard_api.{verb}_{model}" for model in ("account", "website") for verb in ("add", "change")),
        "dashboard_api.add_entitlement",
        "dashboard_api.change_entitlement",
        "dashboard_api.add_sitelink",
        "dashboard_api.change_sitelink",
        "dashboard_api.view_callrecord",
        "dashboard_api.view_secret",
        "dashboard_api.add_secret",
        "dashboard_api.change_secret",
        "dashboard_api.add_importrun",
        "dashboard_api.change_importrun",
        "dashboard_api.change_scanjob",
        "dashboard_api.change_source",
        "dashboard_api.change_coverage",
        *(
            f"portal.{verb}_{model}"
            for model in ("account", "website", "membership")
            for verb in ("add", "change", "delete")
        ),
        "portal.change_sharelink",
        "config.view_run",
        *(f"config.{verb}_incident" for verb in ("view", "add", "change")),
    ),
    "Support": (
        *VIEW_FINDINGS,
        *VIEW_PORTAL,
        *VIEW_AUDIT,
        "dashboard_api.view_callrecord",
        "portal.see_as_customer",
        "portal.change_sharelink",
    ),
}


def create_groups(using: str) -> None:
    """Create the groups that the database ``using`` does not have yet, once all their permissions exist."""
    if "auth_group" not in connections[using].introspection.table_names():
        return
    existing = set(Group.objects.using(using).filter(name__in=GROUPS).values_list("name", flat=True))
    missing = [name for name in GROUPS if name not in existing]
    if not missing:
        return
    permissions = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.using(using).select_related("content_type")
    }
    wanted = {
        name: [label for label in GROUPS[name] if apps.is_installed(label.partition(".")[0])]
        for name in missing
    }
    if not permissions.keys() >= {label for labels in wanted.values() for label in labels}:
        return  # one app is migrated before the other
    for name, labels in wanted.items():
        group = Group.objects.using(using).create(name=name)
        group.permissions.set(permissions[label] for label in labels)
