"""Archive, restore and delete websites: actions on their list and pages."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from dashboard_api.admin.operations import SHOWN, OperatorAdmin, ReasonForm, user_name
from dashboard_api.models import SiteLink, Website

ARCHIVE = "archive"  # the parameter of the filter in URLs; its values follow
ARCHIVED = "archived"
EVERYTHING = "all"


class ArchiveReason(ReasonForm):
    """A form for the reason to archive."""

    reason_help = "Recorded with the website and its links."


class ArchiveFilter(admin.SimpleListFilter):
    """A filter by the archive; by default it hides archived websites."""

    title = "archive"
    parameter_name = ARCHIVE

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("no", "Not archived"), (ARCHIVED, "Archived"), (EVERYTHING, "Everything")]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Return the choices without Django's "All", which would be the default."""
        selected = self.value() if self.value() in (ARCHIVED, EVERYTHING) else "no"
        for value, label in self.lookup_choices:
            query_string = changelist.get_query_string({self.parameter_name: value})
            yield {"selected": value == selected, "query_string": query_string, "display": label}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Website]) -> QuerySet[Website]:
        if self.value() == EVERYTHING:
            return queryset
        return queryset.filter(archived_at__isnull=self.value() != ARCHIVED)


class Archive(OperatorAdmin):
    """A mixin for the admin of websites with the actions that archive, restore and delete them."""

    everything = f"?{ARCHIVE}={EVERYTHING}"

    def archive_actions_for(self, obj: Website) -> tuple[str, ...]:
        """Return the actions that suit the website."""
        if obj.archived_at:
            return ("restore",)
        return ("archive",) if obj.findings.exists() else ("archive", "delete_unused")

    def has_delete_unused_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may delete websites."""
        return request.user.has_perm("dashboard_api.delete_website")

    def warning(self, queryset: QuerySet[Website]) -> str:
        """Return a warning about the accounts that link the websites."""
        links = SiteLink.objects.not_revoked().filter(website__in=queryset)
        accounts = links.order_by("account__ref").values_list("account__ref", flat=True)
        refs = list(accounts.distinct()[: SHOWN + 1])
        names = ", ".join(refs[:SHOWN]) + (" and more" if len(refs) > SHOWN else "")
        return f"Linked by: {names}." if refs else ""

    @admin.action(description="Archive", permissions=["operate"])
    def archive(self, request: HttpRequest, queryset: QuerySet[Website]) -> HttpResponse | None:
        return self.confirm(
            request,
            queryset.filter(archived_at__isnull=True),
            lambda website, answers: website.archive(
                by=user_name(request), reason=answers["reason"], now=timezone.now()
            ),
            title="Archive websites",
            consequence=(
                "All their links are revoked: customers no longer see them, and reports about them are "
                "refused. Their findings are kept. You can undo this, but must then restore each link."
            ),
            done="Archived",
            form_class=ArchiveReason,
        )

    @admin.action(description="Restore from the archive", permissions=["operate"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Website]) -> HttpResponse | None:
        return self.confirm(
            request,
            queryset.filter(archived_at__isnull=False),
            lambda website, _: website.restore(),
            title="Restore websites from the archive",
            consequence=(
                "Reports about them are imported again. Their links remain revoked until you restore them "
                "on the pages of the links."
            ),
            done="Restored from the archive",
        )

    @admin.action(description="Delete", permissions=["delete_unused"])
    def delete_unused(self, request: HttpRequest, queryset: QuerySet[Website]) -> HttpResponse | None:
        """Delete websites that have no findings; the model refuses others."""
        return self.confirm(
            request,
            queryset,
            lambda website, _: website.delete_unused(),
            title="Delete websites",
            consequence=(
                "They are deleted with the history of their imports and links. Websites that have findings, "
                "or a link that is not revoked, are not deleted."
            ),
            done="Deleted",
        )
