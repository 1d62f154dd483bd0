"""URLs of answers and messages."""

from django.urls import path

from portal.answering import views

urlpatterns = [
    path("sites/<str:host>/answer/", views.answer, name="answer"),
    path("sites/<str:host>/findings/<str:finding_id>/messages/", views.write_message, name="write_message"),
]
