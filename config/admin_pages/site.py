"""The admin site: navigation by subject instead of by app, and the operations home."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.functional import Promise

from foundation.pages.panels import Figure, Panel

# Subjects with their models, in the order of the navigation.
SUBJECTS: tuple[tuple[str | Promise, tuple[str, ...]], ...] = (
    (
        "Findings",
        (
            "dashboard_api.Finding",
            "dashboard_api.AnalystNote",
            "dashboard_api.StandingDecision",
            "dashboard_api.ImportRun",
            "dashboard_api.Coverage",
            "dashboard_api.Source",
        ),
    ),
    (
        "Scans",
        (
            "dashboard_api.ScanJob",
            "dashboard_api.ScanSchedule",
            "dashboard_api.ScanConsent",
            "dashboard_api.ScanOptOut",
            "dashboard_api.CrawlerStop",
        ),
    ),
    (
        "Customers",
        (
            "dashboard_api.Account",
            "dashboard_api.Entitlement",
            "dashboard_api.Plan",
            "dashboard_api.PlanPrice",
            "dashboard_api.Subscription",
            "dashboard_api.CallbackEvent",
            "dashboard_api.Website",
            "dashboard_api.SiteLink",
            "dashboard_api.OwnershipClaim",
            "dashboard_api.Secret",
            "dashboard_api.ReportToken",
            "dashboard_api.CallRecord",
        ),
    ),
    (
        "Portal",
        ("portal.Account", "portal.Website", "portal.Membership", "portal.ShareLink", "portal.Badge"),
    ),
    ("People", ("auth.User", "auth.Group", "mfa.Authenticator")),
    ("Operation", ("config.Run", "audit.AuditEvent")),
)
OTHER = "More"


class OperationsSite(admin.AdminSite):
    """Django's admin with the product's look, subjects, and a home that shows what needs attention."""

    site_header = site_title = "Threat Dashboard operations"
    index_title = "Operations"
    index_template = "admin/home.html"
    enable_nav_sidebar = False
    empty_value_display = "–"

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return the context of every page, with the subjects that the user may see."""
        context = super().each_context(request)
        return context | {"subjects": subjects(context["available_apps"])}

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Show the operations home."""
        return super().index(request, (extra_context or {}) | {"panels": _panels(request)})


def subjects(apps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the models of ``apps`` by subject; a model without a subject comes last."""
    models = {
        f"{app['app_label']}.{model['object_name']}": model
        for app in apps
        for model in app["models"]
        if model["admin_url"]
    }
    groups: list[dict[str, Any]] = [
        {"name": name, "models": [models.pop(label) for label in labels if label in models]}
        for name, labels in SUBJECTS
    ]
    groups.append({"name": OTHER, "models": list(models.values())})
    return [group for group in groups if group["models"]]


def _panels(request: HttpRequest) -> Sequence[Panel]:
    """Return the panels that the user may see."""
    of_operation = [_commands()] if request.user.has_perm("config.view_run") else []
    if not settings.ENABLE_API:
        return of_operation
    from dashboard_api.admin.home import panels

    return [*panels(request), *of_operation]


def _commands() -> Panel:
    """Return the panel of scheduled commands: how many are on time, which are late, and what they found."""
    from config.operations.heartbeats import last_runs

    runs, url = last_runs(timezone.now()), reverse("admin:config_run_changelist")
    late = [run for run in runs if run.is_late]
    figures = [Figure(label="On time", number=str(len(runs) - len(late)), url=url)]
    for run in late:
        link = f"{url}?{urlencode({'command': run.command})}"
        figures.append(Figure(label=f"{run.command} is late", number="!", url=link, tone="high"))
    for run in runs:
        if run.found:
            link = f"{url}?{urlencode({'command': run.command, 'found__gt': 0})}"
            label = f"Found by {run.command}"
            figures.append(Figure(label=label, number=number_format(run.found), url=link, tone="high"))
    return Panel(title="Scheduled commands", figures=tuple(figures))
