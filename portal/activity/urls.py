"""URLs of the activity."""

from django.urls import path

from portal.activity import views

urlpatterns = [
    path("activity/", views.activity, name="activity"),
    path("activity.csv", views.activity_csv, name="activity_csv"),
]
