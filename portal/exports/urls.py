"""URLs of exports, below the URL of the website's dashboard."""

from django.urls import path

from portal.exports import views
from portal.exports.files import FORMATS

urlpatterns = [
    *(path(f"sites/<str:host>/findings.{suffix}", views.findings, {"suffix": suffix}) for suffix in FORMATS),
    path(
        "sites/<str:host>/compare/<int:earlier>..<int:later>.csv",
        views.comparison,
        name="comparison_file",
    ),
    path("sites/<str:host>/report/", views.report),
    path("sites/<str:host>/report.pdf", views.pdf),
]
