"""URLs below ``/v1/``."""

from django.urls import path, re_path

from dashboard_api.api import claim_views, report_views, views

app_name = "dashboard_api"

urlpatterns = [
    path("site/dashboard", views.site_dashboard, name="site-dashboard"),
    path("site/finding", views.site_finding, name="site-finding"),
    path("site/changes", views.site_changes, name="site-changes"),
    path("site/claim", claim_views.site_claim, name="site-claim"),
    path("site/claim/check", claim_views.site_claim_check, name="site-claim-check"),
    path("site/claim/withdraw", claim_views.site_claim_withdraw, name="site-claim-withdraw"),
    path("site/claims", claim_views.site_claims, name="site-claims"),
    path("account/calls", views.account_calls, name="account-calls"),
    path("reports", report_views.send_report, name="reports"),
    path("reports/<uuid:job>", report_views.sent_report, name="sent-report"),
    path("openapi.json", views.openapi_document, name="openapi"),
    path("vectors.json", views.vectors, name="vectors"),
    path("samples/<slug:language>", views.sample, name="sample"),
    path("docs", views.documentation, name="documentation"),
    re_path("", views.nothing_here),
]
