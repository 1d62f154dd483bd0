"""URLs of the team's pages, and redirects from their former paths."""

from django.urls import path
from django.views.generic import RedirectView

from portal.team import views

urlpatterns = [
    path("team/", views.team, name="team"),
    path("team/<int:account>/invite/", views.invite, name="invite"),
    path("team/invitations/<uuid:invitation>/withdraw/", views.withdraw, name="withdraw_invitation"),
    path("team/<int:membership>/role/", views.change_role, name="change_role"),
    path("team/<int:membership>/remove/", views.remove, name="remove_member"),
    path("team/<int:membership>/leave/", views.leave, name="leave_account"),
    path("invitations/<str:token>/", views.join, name="join"),
    path("members/", RedirectView.as_view(pattern_name="portal:team", permanent=True)),
]
