"""URLs of the pages about the signed API."""

from django.urls import path

from portal.api_access import calls, views

urlpatterns = [
    path("api/", views.api_access, name="api"),
    path("api/calls/", calls.calls, name="calls"),
    path("api/calls.csv", calls.calls_csv, name="calls_csv"),
    path("api/<int:account>/secrets/", views.secrets, name="api_secrets"),
    path("api/<int:website>/test/", views.test_call, name="api_test_call"),
]
