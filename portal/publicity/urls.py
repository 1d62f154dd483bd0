"""URL of the page of public statistics."""

from django.urls import path

from portal.publicity import views

urlpatterns = [path("team/<int:account>/publicity/", views.publicity, name="publicity")]
