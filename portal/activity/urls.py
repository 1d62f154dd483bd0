"""URLs of the activity."""

from django.urls import path

from portal.activity import views

urlpatterns = [
    path("activity/", views.activity, name="activity"),
    path("activity/calls/", views.calls, name="calls"),
    path("activity/calls.csv", views.calls_csv, name="calls_csv"),
    path("activity.csv", views.activity_csv, name="activity_csv"),
]
