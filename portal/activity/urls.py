"""URLs of the audit log."""

from django.urls import path

from portal.activity import views

urlpatterns = [
    path("activity/", views.activity, name="activity"),
    path("activity.csv", views.activity_csv, name="activity_csv"),
]
