"""The portal's addresses."""

from django.urls import path

from portal import views
from portal.exports.urls import urlpatterns as takeout
from portal.notifications.urls import urlpatterns as news
from portal.team.urls import urlpatterns as people

app_name = "portal"

urlpatterns = [
    path("", views.sites, name="sites"),
    path("sites/<str:host>/", views.site, name="site"),
    path("sites/<str:host>/card/", views.card, name="card"),
    path("sites/<str:host>/findings/<str:finding_id>/", views.finding, name="finding"),
    *takeout,
    *people,
    *news,
]
