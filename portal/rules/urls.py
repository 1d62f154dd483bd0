"""URL of the page of rules."""

from django.urls import path

from portal.rules import views

urlpatterns = [path("team/<int:account>/rules/", views.rules, name="rules")]
