"""The groups of staff in every new database: what analysts, operators and support may do.

A group gets each new permission of a release once, so a permission that a deployment removes is not given
again.
"""

from django.contrib.auth.models import Group, Permission
from django.db import connections, transaction

from audit.recording import record as audit
from config.models import GivenPermission

_TABLES = {"auth_group", "audit_auditevent", "config_givenpermission"}

VIEW_FINDINGS = (
    "dashboard_api.view_finding",
    "dashboard_api.view_analystnote",
    "dashboard_api.view_case",
    "dashboard_api.view_website",
    "dashboard_api.view_source",
    "dashboard_api.view_coverage",
    "dashboard_api.view_standingdecision",
    "dashboard_api.view_importrun",
    "dashboard_api.view_scanjob",
    "dashboard_api.view_enginerun",
    "dashboard_api.view_scanschedule",
    "dashboard_api.view_scanconsent",
    "dashboard_api.view_scanoptout",
    "dashboard_api.view_crawlerstop",
    "dashboard_api.view_account",
    "dashboard_api.view_entitlement",
    "dashboard_api.view_plan",
    "dashboard_api.view_sitelink",
    "dashboard_api.view_ownershipclaim",
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
        "dashboard_api.add_standingdecision",
        "dashboard_api.change_standingdecision",
        "portal.see_as_customer",
    ),
    "Operators": (
        *VIEW_FINDINGS,
        *VIEW_PORTAL,
        *VIEW_AUDIT,
        *(f"dashboard_api.{verb}_{model}" for model in ("account", "website") for verb in ("add", "change")),
        "dashboard_api.add_entitlement",
        "dashboard_api.change_entitlement",
        "dashboard_api.add_plan",
        "dashboard_api.change_plan",
        *(f"dashboard_api.{verb}_planprice" for verb in ("view", "add", "change")),
        "dashboard_api.view_subscription",
        "dashboard_api.view_callbackevent",
        "dashboard_api.change_callbackevent",
        "dashboard_api.add_sitelink",
        "dashboard_api.change_sitelink",
        "dashboard_api.add_ownershipclaim",
        "dashboard_api.change_ownershipclaim",
        "dashboard_api.view_callrecord",
        "dashboard_api.view_secret",
        "dashboard_api.add_secret",
        "dashboard_api.change_secret",
        *(f"dashboard_api.{verb}_reporttoken" for verb in ("view", "add", "change")),
        "dashboard_api.add_importrun",
        "dashboard_api.change_importrun",
        "dashboard_api.change_scanjob",
        *(
            f"dashboard_api.{verb}_{model}"
            for model in ("scanoptout", "crawlerstop")
            for verb in ("add", "change")
        ),
        "dashboard_api.change_source",
        "dashboard_api.change_coverage",
        *(
            f"portal.{verb}_{model}"
            for model in ("account", "website", "membership")
            for verb in ("add", "change", "delete")
        ),
        "portal.change_sharelink",
        "portal.view_badge",
        "config.view_run",
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
    """Create missing groups in the database ``using``, and give each group the permissions it never had."""
    if not set(connections[using].introspection.table_names()) >= _TABLES:
        return
    permissions = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.using(using).select_related("content_type")
    }
    given = GivenPermission.objects.using(using)
    given_before = set(given.values_list("group", "permission"))
    with transaction.atomic(using):
        for name, labels in GROUPS.items():
            group, is_new = Group.objects.using(using).get_or_create(name=name)
            # Permissions of an app do not exist until it is migrated; a later run gives them.
            to_give = [
                label
                for label in labels
                if label in permissions and (is_new or (name, label) not in given_before)
            ]
            group.permissions.add(*(permissions[label] for label in to_give))
            rows = [GivenPermission(group=name, permission=label) for label in to_give]
            given.bulk_create(rows, ignore_conflicts=True)
            if to_give and not is_new:
                audit("staff_group.extended", group, by="migrate", after={"permissions": ", ".join(to_give)})
