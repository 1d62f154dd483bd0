"""URLs of the notifications' pages, and redirects from former paths in e-mails and bookmarks."""

from django.urls import path
from django.views.generic import RedirectView

from portal.notifications import views

urlpatterns = [
    path("notifications/", views.subscriptions, name="notifications"),
    path("notifications/<int:membership>/", views.subscribe, name="subscribe"),
    path("notifications/unsubscribe/<str:token>/", views.unsubscribe, name="unsubscribe"),
    path("new/", views.what_is_new, name="what_is_new"),
    path("sites/<str:host>/new/", views.new_findings, name="new_findings"),
    path("news/", RedirectView.as_view(pattern_name="portal:notifications", permanent=True)),
    path("news/stop/<str:token>/", views.former_unsubscribe),
    path("sites/<str:host>/news/", views.former_new_findings),
]
