"""Addresses of the pages about e-mails."""

from django.urls import path

from portal.notifications import views

urlpatterns = [
    path("news/", views.news, name="news"),
    path("news/<int:membership>/", views.choose, name="choose_news"),
    path("sites/<str:host>/news/", views.since, name="since"),
    path("news/stop/<str:token>/", views.stop, name="stop_news"),
]
