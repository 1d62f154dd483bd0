"""URLs below ``/v1/``."""

from django.urls import path, re_path

from dashboard_api.api import views

app_name = "dashboard_api"

urlpatterns = [
    path("site/dashboard", views.site_dashboard, name="site-dashboard"),
    path("site/finding", views.site_finding, name="site-finding"),
    path("site/changes", views.site_changes, name="site-changes"),
    path("openapi.json", views.openapi_document, name="openapi"),
    path("docs", views.documentation, name="documentation"),
    re_path("", views.nothing_here),
]
