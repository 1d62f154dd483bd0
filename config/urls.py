"""The project's addresses: the signed API, the portal, sign-in and the admin."""

from allauth.account.decorators import secure_admin_login
from django.conf import settings
from django.contrib import admin
from django.urls import include, path

admin.autodiscover()
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
]
if settings.ENABLE_API:
    handler400 = "config.errors.bad_request"
    handler500 = "config.errors.server_error"
    urlpatterns.append(path("v1/", include("dashboard_api.urls")))
if settings.ENABLE_PORTAL:
    urlpatterns.append(path("", include("portal.urls")))
