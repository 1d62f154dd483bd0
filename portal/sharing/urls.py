"""URLs of share links and badges, for members who manage them and for people who open them."""

from django.urls import path

from portal.sharing import badges, views

urlpatterns = [
    path("shares/", views.shares, name="shares"),
    path("shares/<int:share_link>/revoke/", views.revoke, name="revoke_share"),
    path("shares/<int:account>/tracker/", views.set_tracker, name="set_tracker"),
    path("sites/<str:host>/findings/<str:finding_id>/share/", views.share_finding, name="share_finding"),
    path("sites/<str:host>/share/", views.share_list, name="share_list"),
    path("sites/<str:host>/badge/", badges.badge, name="badge"),
    path("badge/<str:token>.svg", badges.badge_image, name="badge_image"),
    path("s/<str:token>/", views.shared, name="shared"),
    path("s/<str:token>/fixed/", views.say_fixed, name="say_fixed"),
]
