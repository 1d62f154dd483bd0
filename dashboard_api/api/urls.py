"""URLs below ``/v1/``."""

from django.urls import path, re_path

from dashboard_api.api import report_views, views

app_name = "dashboard_api"

urlpatterns = [
    path("site/dashboard", views.site_dashboard, name="site-dashboard"),
    path("site/finding", views.site_finding, name="site-finding"),
    path("site/changes", views.site_changes, name="site-changes"),
    path("account/calls", views.account_calls, name="account-calls"),
    path("reports", report_views.send_report, name="reports"),
    path("reports/<uuid:job>", report_views.sent_report, name="sent-report"),
    path("openapi.json", views.openapi_document, name="openapi"),
    path("vectors.json", views.vectors, name="vectors"),
    path("samples/<slug:language>", views.sample, name="sample"),
    path("docs", views.documentation, name="documentation"),
    re_path("", views.nothing_here),
]
