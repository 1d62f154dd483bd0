"""URLs of the pages of scans."""

from django.urls import path

from portal.scans import comparison_views, views

urlpatterns = [
    path("sites/<str:host>/scans/", views.scans, name="scans"),
    path("sites/<str:host>/compare/", comparison_views.newest_comparison, name="newest_comparison"),
    path(
        "sites/<str:host>/compare/<int:earlier>..<int:later>/",
        comparison_views.comparison,
        name="comparison",
    ),
    path("sites/<str:host>/scans/start/", views.start_scan, name="start_scan"),
    path("sites/<str:host>/findings/<str:finding_id>/check/", views.retest, name="retest"),
    path("sites/<str:host>/scans/schedule/", views.schedule_scans, name="schedule_scans"),
    path("sites/<str:host>/scans/<int:job_id>/cancel/", views.cancel_scan, name="cancel_scan"),
    path("sites/<str:host>/scans/<int:job_id>/page/", views.confirm_page, name="confirm_page"),
]
