"""The pages of calls on record."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from dashboard_api.admin.operations import RecordAdmin, never
from dashboard_api.models import Account, CallRecord


class Answer(admin.SimpleListFilter):
    """A filter for calls with a status other than 200; a filter for 200 would read the whole table."""

    title = "response"
    parameter_name = "answer"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return (("refused", "refused or failed"),)

    def queryset(self, request: HttpRequest, queryset: QuerySet[CallRecord]) -> QuerySet[CallRecord]:
        return queryset.exclude(status=200) if self.value() else queryset


@admin.register(CallRecord)
class CallRecordAdmin(RecordAdmin):
    """The list of calls with expired nonces; the page of an account also shows its latest calls."""

    list_display = ("at", "account_ref", "route", "status", "code", "secret_id", "address", "request_id")
    list_filter = (Answer,)
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("request_id__exact",)
    search_help_text = "A request id, or the reference of a customer."
    fields = readonly_fields = (*list_display, "link_id")
    has_add_permission = never

    @admin.display(description="customer")
    def account_ref(self, call: CallRecord) -> str:
        """Return the account's reference; ``get_changelist_instance`` adds it to a whole page at once."""
        if not hasattr(call, "ref"):
            _add_references([call])
        ref: str = call.ref  # type: ignore[attr-defined]
        return ref

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Return the list, and add the accounts' references to its rows."""
        changes = super().get_changelist_instance(request)
        _add_references(changes.result_list)
        return changes

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[CallRecord], search_term: str
    ) -> tuple[QuerySet[CallRecord], bool]:
        """Return the calls of an account, or with a request id."""
        account = Account.objects.filter(ref=search_term.strip()).first()
        if account is not None:
            return queryset.filter(account_id=account.pk), False
        return super().get_search_results(request, queryset, search_term)


def _add_references(calls: Any) -> None:
    """Set ``ref`` of each call; the accounts may be in another database."""
    refs = dict(Account.objects.filter(pk__in={call.account_id for call in calls}).values_list("pk", "ref"))
    for call in calls:
        call.ref = refs.get(call.account_id, "")
