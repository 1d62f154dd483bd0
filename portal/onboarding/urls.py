"""URLs of the pages for adding a website."""

from django.urls import path

from portal.onboarding import helper_views, views

urlpatterns = [
    path("websites/add/", views.add_website, name="add_website"),
    path("websites/<int:account>/claims/<int:claim_id>/", views.claim, name="claim"),
    path("websites/<int:account>/claims/<int:claim_id>/check/", views.check_claim, name="check_claim"),
    path(
        "websites/<int:account>/claims/<int:claim_id>/helper/",
        helper_views.create_helper_link,
        name="create_helper_link",
    ),
    path(
        "websites/<int:account>/claims/<int:claim_id>/helper/end/",
        helper_views.end_helper_link,
        name="end_helper_link",
    ),
    path("prove/<str:token>/", helper_views.help_prove, name="help_prove"),
    path("prove/<str:token>/check/", helper_views.check_for_helper, name="check_for_helper"),
    path(
        "websites/<int:account>/claims/<int:claim_id>/withdraw/",
        views.withdraw_claim,
        name="withdraw_claim",
    ),
]
