"""The pages of questions and disputes: the analysts' queue, two tables, and the list of all cases.

Every act is a link or a form; scripts only add keyboard shortcuts, and replace part of the page.
"""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.html import format_html

from dashboard_api.admin.case_forms import ACTS, CaseForm, acts_for
from dashboard_api.admin.case_panel import case_panel, customer_name, said_to_be_fixed
from dashboard_api.admin.case_queue import SHOW, CaseFilters, read_cases
from dashboard_api.admin.disputed_rules import disputed_rules
from dashboard_api.admin.labels import SEVERITY_LABELS
from dashboard_api.admin.operations import PresenceFilter, RecordAdmin, never, user_name
from dashboard_api.admin.queue import ALL_OPEN, MAX_ID, QueueFilters, as_id, tone
from dashboard_api.models import Case
from foundation.texts.people import reference_of

SAID_FIXED_ROWS = 100


class Closed(PresenceFilter):
    """A filter by whether the case is closed."""

    heading, present, absent = "state", "Closed", "Open"


@admin.register(Case)
class CaseAdmin(RecordAdmin):
    """Questions and disputes: staff who may change findings decide, others only read."""

    list_display = ("kind", "finding", "website", "promised_on", "closed_at", "outcome", "closed_by")
    list_display_links = ("kind", "finding")
    list_filter = (("closed_at", Closed), "kind", "outcome")
    list_select_related = ("finding", "website")
    search_fields = ("finding__title", "finding__rule", "website__host", "closed_by")
    ordering = ("-pk",)
    has_add_permission = never
    has_module_permission = never  # the navigation leads to the queue, and the queue to the list

    def get_urls(self) -> list[URLPattern]:
        """Return the URLs of the queue ahead of a case's: Django takes the first that matches."""
        pages = (
            ("workbench/", self.workbench, "workbench"),
            ("workbench/<int:pk>/decide/", self.decide, "workbench_decide"),
            ("said-fixed/", self.said_fixed, "said_fixed"),
            ("disputed-rules/", self.disputed_rules, "disputed_rules"),
        )
        view = self.admin_site.admin_view
        return [
            *(path(route, view(page), name=f"dashboard_api_case_{name}") for route, page, name in pages),
            *super().get_urls(),
        ]

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may decide: a dispute that is agreed to changes findings."""
        return request.user.has_perm("dashboard_api.change_finding")

    def workbench(self, request: HttpRequest) -> HttpResponse:
        """Show the queue, and the case of the address or the first one."""
        self._require(self.has_view_permission(request))
        pk = as_id(request.GET.get("case", ""))
        case = self._case(pk) if pk is not None else None
        return self._page(request, CaseFilters.from_query(request.GET), case)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show the case in the queue, which has all of it."""
        self._require(self.has_view_permission(request) and request.method == "GET")
        return self._page(request, CaseFilters(), self._case(as_id(object_id) or 0))

    def decide(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Perform an act, and go on to the next case; a refusal keeps the text."""
        self._require(self.has_operate_permission(request) and self.has_view_permission(request))
        filters = CaseFilters.from_query(QueryDict(request.POST.get("back", "")[:1000]))
        case = self._case(min(pk, MAX_ID))
        if request.method != "POST":
            return redirect(filters.url(case.pk))
        act = request.POST.get("act", "")
        if act not in ACTS:
            raise Http404("There is no such act.")
        form = CaseForm(request.POST, act=act)
        if "sentence" in request.POST:
            return self._page(request, filters, case, form.with_sentence(request.POST["sentence"]))
        if form.is_valid():
            try:
                form.apply(case, by=user_name(request), person=_person(request), now=timezone.now())
            except ValidationError as refusal:
                form.add_error(None, refusal)
                case = self._case(case.pk)
            else:
                self.log_change(request, case, f"{form.act.done}.")
                return self._go_on(request, filters, case, f"{form.act.done}: {case.finding}")
        return self._page(request, filters, case, form)

    def said_fixed(self, request: HttpRequest) -> HttpResponse:
        """List what customers say to be fixed and no scan of this deployment decides."""
        self._require(self.has_view_permission(request))
        answers = list(said_to_be_fixed()[: SAID_FIXED_ROWS + 1])
        names_accounts = request.user.has_perm("dashboard_api.view_account")
        rows = [
            {
                "answer": answer,
                "finding": answer.finding,
                "url": QueueFilters(queue=ALL_OPEN).url(answer.finding_id),
                "severity": SEVERITY_LABELS[answer.finding.severity],
                "tone": tone(answer.finding.severity),
                "customer": customer_name(answer.account) if names_accounts else "a customer",
            }
            for answer in answers[:SAID_FIXED_ROWS]
        ]
        context = {"title": "Said to be fixed", "rows": rows, "has_more": len(answers) > SAID_FIXED_ROWS}
        return self._show(request, "said_fixed", context)

    def disputed_rules(self, request: HttpRequest) -> HttpResponse:
        """List the rules with decided disputes: what to suppress."""
        self._require(self.has_view_permission(request))
        return self._show(request, "disputed_rules", {"title": "Disputed rules", "rows": disputed_rules()})

    def _require(self, allowed: bool) -> None:
        if not allowed:
            raise PermissionDenied

    def _case(self, pk: int) -> Case:
        rows = Case.objects.select_related("account", "finding__source", "finding__website", "website")
        return get_object_or_404(rows, pk=pk)

    def _go_on(self, request: HttpRequest, filters: CaseFilters, case: Case, done: str) -> HttpResponse:
        """Say what was done, with a link back to the case, and go on to the next one that waits."""
        back = format_html('{} <a href="{}">{}</a>', done, filters.url(case.pk), "Show it again")
        self.message_user(request, back, messages.SUCCESS)
        following = as_id(request.POST.get("next", ""))
        waits = following is not None and filters.cases().filter(pk=following).exists()
        return redirect(filters.url(following if waits else None))

    def _page(
        self,
        request: HttpRequest,
        filters: CaseFilters,
        case: Case | None,
        sent: CaseForm | None = None,
    ) -> HttpResponse:
        queue = read_cases(filters, case.pk if case else None)
        if case is None and queue.current is not None:
            case = self._case(queue.current)
        may_view_accounts = request.user.has_perm("dashboard_api.view_account")
        context = {
            "title": "Questions and disputes",
            "filters": filters,
            "queue": queue,
            "panel": case_panel(case, names_accounts=may_view_accounts) if case else None,
            "kinds": Case.Kind.choices,
            "show": SHOW,
            "may_decide": self.has_operate_permission(request),
            "may_view_accounts": may_view_accounts,
            "sent": sent,
        }
        if case:
            is_own = case.by == _person(request)
            names = acts_for(case) if not is_own else ()
            forms = [sent if sent and sent.name == name else CaseForm(act=name) for name in names]
            context |= {
                "is_own": is_own,
                "forms": [*forms, sent] if sent and sent.name not in names else forms,
                "finding_url": QueueFilters(queue=ALL_OPEN).url(case.finding_id),
            }
        return self._show(request, "workbench", context)

    def _show(self, request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
        shared = self.admin_site.each_context(request) | {"opts": self.opts}
        return TemplateResponse(request, f"admin/dashboard_api/case/{template}.html", shared | context)


def _person(request: HttpRequest) -> str:
    """Return the portal's reference of the signed-in user, who may be a customer as well."""
    return reference_of(request.user.pk or 0)
