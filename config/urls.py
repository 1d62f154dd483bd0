"""Routes of the project: the signed API, the portal, sign-in and the admin."""

from allauth.account.decorators import secure_admin_login
from allauth.mfa.totp.views import activate_totp
from csp.decorators import csp_update
from django.conf import settings
from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView
from django.views.i18n import set_language

from config.identity import sign_in, staff
from config.identity.account import account, end_other_sessions
from config.web.keyboard import switch_keys
from config.web.theme import choose_theme
from config.web.well_known import security_txt

admin.autodiscover()
admin.site.admin_view = staff.protected(admin.site.admin_view)  # type: ignore[method-assign]
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    # Staff change their own password on the account page, which also sends an e-mail.
    path("admin/password_change/", RedirectView.as_view(pattern_name="account_change_password")),
    path("admin/", admin.site.urls),
    path(".well-known/security.txt", security_txt, name="security_txt"),
    path("theme/", choose_theme, name="theme"),
    path("language/", set_language, name="set_language"),
    path("accounts/", account, name="account"),
    path("accounts/sessions/end/", end_other_sessions, name="end_other_sessions"),
    path("accounts/keyboard/", switch_keys, name="switch_keys"),
    # allauth redirects to these two pages; the account page replaces them.
    re_path(r"^accounts/2fa/(?:webauthn/)?$", RedirectView.as_view(pattern_name="account")),
    # allauth needs the names of these pages, which this product does not offer.
    re_path(
        r"^accounts/(?:signup|email|confirm-email|inactive|login/code|reauthenticate/code)/",
        sign_in.not_offered,
    ),
    path("accounts/password/reset/", sign_in.reset_password),
    re_path(
        r"^accounts/password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        sign_in.NewPasswordByLink.as_view(),
        name="account_reset_password_from_key",
    ),
    # The page contains a QR code as a data: URL, the one exception to the content security policy.
    path("accounts/2fa/totp/activate/", csp_update({"img-src": ["data:"]})(activate_totp)),
    path("accounts/2fa/webauthn/login/", sign_in.by_passkey),
    path("accounts/", include("allauth.urls")),
]
handler400 = "config.web.errors.bad_request"
handler404 = "config.web.errors.not_found"
handler500 = "config.web.errors.server_error"
handler429 = "config.web.errors.too_many_requests"  # allauth's, for too many attempts
if settings.ENABLE_API:
    from config.onboarding.admin_form import new_customer  # imports the service's models

    urlpatterns.insert(
        0, path("admin/new-customer/", admin.site.admin_view(new_customer), name="new_customer")
    )
    from config.web import scanner  # imports the service

    urlpatterns += [
        path("scanner", scanner.page, name="scanner"),
        path(".well-known/probing.txt", scanner.probing_txt, name="probing_txt"),
    ]
if settings.ENABLE_PORTAL:
    from config.admin_pages.see_as_customer import urlpatterns as see_as_customer  # imports portal models

    urlpatterns[0:0] = see_as_customer()
    if settings.ENABLE_API:
        from config.onboarding import sign_up_views  # imports both apps

        urlpatterns += [
            path("sign-up/", sign_up_views.sign_up, name="sign_up"),
            path("sign-up/sent/", sign_up_views.sign_up_sent, name="sign_up_sent"),
            path("sign-up/<str:token>/", sign_up_views.new_account, name="new_account"),
        ]
    urlpatterns.append(path("", include("portal.urls")))
if settings.ENABLE_API:
    from config.operations.client_health import client_health

    urlpatterns[0:0] = [  # first, because Django tries routes in order and programs call these often
        path("v1/health", client_health, name="client_health"),
        path("v1/", include("dashboard_api.api.urls")),
    ]
