"""The admin's name, and its page of second factors, where an operator removes a lost one."""

from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.http import HttpRequest

admin.site.site_header = admin.site.site_title = "Threat Dashboard operations"
admin.site.unregister(Authenticator)


@admin.register(Authenticator)
class AuthenticatorAdmin(admin.ModelAdmin):
    """Second factors without their secrets, which allauth's own page would show."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    search_fields = ("user__username", "user__email")
    fields = readonly_fields = list_display

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: only the owner sets one up."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Authenticator | None = None) -> bool:
        """Return False: a factor is removed or left as it is."""
        return False
