"""URLs of saved views."""

from django.urls import path

from portal.saved_views import views

urlpatterns = [
    path("views/", views.saved_views, name="saved_views"),
    path("views/<int:saved_view>/rename/", views.rename, name="rename_view"),
    path("views/<int:saved_view>/delete/", views.delete, name="delete_view"),
    path("sites/<str:host>/views/", views.save, name="save_view"),
]
