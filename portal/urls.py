"""URLs of the portal."""

from django.urls import path

from portal.activity.urls import urlpatterns as activity
from portal.answering.urls import urlpatterns as answering
from portal.api_access.urls import urlpatterns as api_access
from portal.exports.urls import urlpatterns as exports
from portal.inventory.urls import urlpatterns as inventory
from portal.notifications.urls import urlpatterns as notifications
from portal.onboarding.urls import urlpatterns as onboarding
from portal.pages import front_door, views
from portal.palette.urls import urlpatterns as palette
from portal.plan.urls import urlpatterns as plan
from portal.publicity.urls import urlpatterns as publicity
from portal.rules.urls import urlpatterns as rules
from portal.saved_views.urls import urlpatterns as saved_views
from portal.scans.urls import urlpatterns as scans
from portal.sharing.urls import urlpatterns as sharing
from portal.team.urls import urlpatterns as team

app_name = "portal"

urlpatterns = [
    path("", views.start, name="sites"),
    path("sample/", front_door.sample, name="sample"),
    path("sample/findings/<str:finding_id>/", front_door.sample_finding, name="sample_finding"),
    path("how-we-grade/", views.grading, name="grading"),
    path("help/", views.help_page, name="help"),
    path("sites/<str:host>/", views.site, name="site"),
    path("sites/<str:host>/row/", views.site_row, name="site_row"),
    path("sites/<str:host>/findings/<str:finding_id>/", views.finding, name="finding"),
    *activity,
    *answering,
    *api_access,
    *exports,
    *inventory,
    *team,
    *notifications,
    *sharing,
    *palette,
    *plan,
    *publicity,
    *rules,
    *onboarding,
    *saved_views,
    *scans,
]
