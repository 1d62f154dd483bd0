"""Base class of the pages of secrets and tokens, and the page that shows a new one once."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from dashboard_api.admin.operations import RecordAdmin, Words, never


class CredentialAdmin(RecordAdmin):
    """The pages of credentials, without their values; staff issue them from the account's page."""

    revoke_title: Words
    revoke_consequence: Words
    has_add_permission = never

    @admin.display(boolean=True, description="works")
    def works(self, credential: Any) -> bool:
        """Return whether calls with the credential are accepted."""
        return bool(credential.is_usable(timezone.now()))

    @admin.action(description="Revoke", permissions=["operate"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return self.confirm(
            request,
            queryset,
            lambda credential, _: credential.revoke(now=timezone.now()),
            title=self.revoke_title,
            consequence=self.revoke_consequence,
            done="Revoked",
        )


@sensitive_variables("clear", "context")
def shown_once(
    request: HttpRequest, context: dict[str, Any], clear: str, *, title: Words, advice: Words
) -> HttpResponse:
    """Return the page that shows the credential ``clear``, and forbid caching it.

    ``context`` has the ``account``.
    """
    context |= {"clear": clear, "title": title, "advice": advice}
    page = TemplateResponse(request, "admin/dashboard_api/shown_once.html", context)
    page["Cache-Control"] = "no-store"
    return page
