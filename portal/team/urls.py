"""Addresses of the pages about members."""

from django.urls import path

from portal.team import views

urlpatterns = [
    path("members/", views.members, name="members"),
    path("members/<int:account>/invite/", views.invite, name="invite"),
    path("members/invitations/<uuid:invitation>/withdraw/", views.withdraw, name="withdraw"),
    path("members/<int:membership>/role/", views.change_role, name="change_role"),
    path("members/<int:membership>/remove/", views.remove, name="remove"),
    path("members/<int:membership>/leave/", views.leave, name="leave"),
    path("invitations/<str:token>/", views.invitation, name="invitation"),
]
