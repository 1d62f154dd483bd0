"""The portal's addresses."""

from django.urls import path

from portal import views
from portal.news.urls import urlpatterns as news
from portal.people.urls import urlpatterns as people
from portal.takeout.urls import urlpatterns as takeout

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
