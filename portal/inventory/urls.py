"""URLs of the pages of certificates, domains and scripts."""

from django.urls import path

from portal.inventory import views

urlpatterns = [
    path("sites/<str:host>/inventory/", views.inventory, name="inventory"),
    path("sites/<str:host>/inventory/script/", views.change_script, name="change_script"),
    path("websites/certificates/", views.expiry_dates, name="expiry_dates"),
]
