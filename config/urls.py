"""The project's addresses: the signed API, the portal, sign-in and the admin."""

from allauth.account.decorators import secure_admin_login
from django.conf import settings
from django.contrib import admin
from django.urls import include, path, re_path

from config import sign_in

admin.autodiscover()
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("admin/", admin.site.urls),
    # allauth needs its names, but these pages lead nowhere while there is no second factor to set up.
    re_path(r"^accounts/(?:2fa|email|confirm-email|login/code)/", sign_in.not_offered),
    path("accounts/", include("allauth.urls")),
]
if not settings.EMAIL_URL:
    urlpatterns.insert(0, path("accounts/password/reset/", sign_in.reset_by_support))
if settings.ENABLE_API:
    handler400 = "config.errors.bad_request"
    handler500 = "config.errors.server_error"
    urlpatterns.append(path("v1/", include("dashboard_api.urls")))
if settings.ENABLE_PORTAL:
    urlpatterns.append(path("", include("portal.urls")))
