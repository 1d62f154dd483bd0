"""Addresses below ``/v1/``."""

from django.urls import URLPattern

app_name = "dashboard_api"

urlpatterns: list[URLPattern] = []
