"""URLs of the pages for adding a website."""

from django.urls import path

from portal.onboarding import views

urlpatterns = [
    path("websites/add/", views.add_website, name="add_website"),
    path("websites/<int:account>/claims/<int:claim_id>/", views.claim, name="claim"),
    path("websites/<int:account>/claims/<int:claim_id>/check/", views.check_claim, name="check_claim"),
    path(
        "websites/<int:account>/claims/<int:claim_id>/withdraw/",
        views.withdraw_claim,
        name="withdraw_claim",
    ),
]
