"""URLs of the page for those who call the signed API."""

from django.urls import path

from portal.api_access import views

urlpatterns = [
    path("api/", views.api_access, name="api"),
    path("api/<int:account>/secrets/", views.secrets, name="api_secrets"),
    path("api/<int:website>/test/", views.test_call, name="api_test_call"),
]
