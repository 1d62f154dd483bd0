"""URLs of share links: for members who create and revoke them, and for people who open them."""

from django.urls import path

from portal.sharing import views

urlpatterns = [
    path("shares/", views.shares, name="shares"),
    path("shares/<int:share_link>/revoke/", views.revoke, name="revoke_share"),
    path("shares/<int:account>/tracker/", views.set_tracker, name="set_tracker"),
    path("sites/<str:host>/findings/<str:finding_id>/share/", views.share_finding, name="share_finding"),
    path("s/<str:token>/", views.shared, name="shared"),
]
