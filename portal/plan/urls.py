"""URLs of the pages of the plan."""

from django.urls import path

from portal.plan import views

urlpatterns = [
    path("plan/", views.plan, name="plan"),
    path("plan/<int:account>/websites/", views.choose_websites, name="choose_websites"),
]
