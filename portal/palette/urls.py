"""URLs of the palette."""

from django.urls import path

from portal.palette import views

urlpatterns = [
    path("palette/", views.dialogs, name="dialogs"),
    path("palette/hits/", views.hits, name="hits"),
]
