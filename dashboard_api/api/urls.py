"""URLs below ``/v1/``."""

from django.urls import path, re_path

from dashboard_api.api import (
    account_views,
    answer_views,
    callback_views,
    claim_views,
    downloads,
    public_views,
    publicity_views,
    report_views,
    scan_views,
    secret_views,
    views,
)

app_name = "dashboard_api"

urlpatterns = [
    path("site/dashboard", views.site_dashboard, name="site-dashboard"),
    path("site/finding", views.site_finding, name="site-finding"),
    path("site/changes", views.site_changes, name="site-changes"),
    path("site/compare", views.site_compare, name="site-compare"),
    path("site/answer", answer_views.site_answer, name="site-answer"),
    path("site/answers", answer_views.site_answers, name="site-answers"),
    path("site/message", answer_views.site_message, name="site-message"),
    path("account/answer-rules", answer_views.account_answer_rules, name="account-answer-rules"),
    path("site/claim", claim_views.site_claim, name="site-claim"),
    path("site/claim/check", claim_views.site_claim_check, name="site-claim-check"),
    path("site/claim/withdraw", claim_views.site_claim_withdraw, name="site-claim-withdraw"),
    path("site/claims", claim_views.site_claims, name="site-claims"),
    path("account/publicity", publicity_views.account_publicity, name="account-publicity"),
    path("account/secrets", secret_views.account_secrets, name="account-secrets"),
    path("site/scan", scan_views.site_scan, name="site-scan"),
    path("site/scan/status", scan_views.site_scan_status, name="site-scan-status"),
    path("site/scan/cancel", scan_views.site_scan_cancel, name="site-scan-cancel"),
    path("site/scan/schedule", scan_views.site_scan_schedule, name="site-scan-schedule"),
    path("site/scans", scan_views.site_scans, name="site-scans"),
    path("account/calls", views.account_calls, name="account-calls"),
    path("account/entitlement", account_views.account_entitlement, name="account-entitlement"),
    path("account/changes", account_views.account_changes, name="account-changes"),
    path("account/websites", account_views.account_websites, name="account-websites"),
    path("callbacks/<slug:provider>", callback_views.receive_callback, name="callbacks"),
    path("reports", report_views.send_report, name="reports"),
    path("reports/<uuid:job>", report_views.sent_report, name="sent-report"),
    path("public", public_views.page, name="public"),
    path("public/feed.html", public_views.feed_page, name="public-feed-page"),
    path("public/statistics", public_views.statistics, name="public-statistics"),
    path("public/feed", public_views.feed, name="public-feed"),
    path("openapi.json", views.openapi_document, name="openapi"),
    path("vectors.json", views.vectors, name="vectors"),
    path("samples/<slug:language>", views.sample, name="sample"),
    path("clients/<str:name>", downloads.download, name="client"),
    path("docs", views.documentation, name="documentation"),
    re_path("", views.nothing_here),
]
