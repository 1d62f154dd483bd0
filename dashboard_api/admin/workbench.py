"""The analyst's workbench: the queue on the left, a finding on the right, and its forms.

Every action is a link or a form; scripts only add keyboard shortcuts, and replace part of the page.
"""

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.html import format_html
from django.utils.text import format_lazy

from dashboard_api.admin.decisions import LABELS, UNCONFIRM, DecisionForm, NoteForm, decisions_for
from dashboard_api.admin.finding_panel import finding_panel
from dashboard_api.admin.labels import SEVERITY_LABELS
from dashboard_api.admin.operations import OperatorAdmin, user_name
from dashboard_api.admin.queue import ALL_OPEN, MAX_ID, QueueFilters, as_id, read_queue
from dashboard_api.decisions.triage import unconfirm
from dashboard_api.models import AnalystNote, Finding, Source
from foundation.texts.triage_reasons import REASONS

SELECTED_ACTIONS = (
    *("mark_reviewed", "false_positive", "accept_risk", "fixed"),
    *("confirm_finding", "unconfirm_finding", "override_severity"),
)


class Workbench(OperatorAdmin):
    """A mixin for the admin of findings with the pages of the workbench."""

    def get_urls(self) -> list[URLPattern]:
        """Return the workbench's URLs ahead of a finding's: Django takes the first that matches."""
        pages = (
            ("workbench/", self.workbench, ""),
            ("workbench/selected/", self.decide_selected, "_selected"),
            ("workbench/<int:pk>/decide/", self.decide, "_decide"),
            ("workbench/<int:pk>/note/", self.add_note, "_note"),
            ("workbench/notes/<int:pk>/publish/", self.publish_note, "_publish"),
        )
        name = "dashboard_api_finding_workbench"
        view = self.admin_site.admin_view
        return [
            *(path(route, view(page), name=f"{name}{suffix}") for route, page, suffix in pages),
            *super().get_urls(),
        ]

    def workbench(self, request: HttpRequest) -> HttpResponse:
        """Show the queue, and the finding of the address or the first one."""
        self._require(self.has_view_permission(request))
        finding_id = as_id(request.GET.get("finding", ""))
        finding = self._finding(finding_id) if finding_id is not None else None
        return self._page(request, QueueFilters.from_query(request.GET), finding)

    def decide(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Record a decision or a review, and go on to the next finding."""
        filters, finding = self._filters_and_finding(request, pk, self.has_operate_permission(request))
        if request.method != "POST":
            return redirect(filters.url(finding.pk))
        decision = request.POST.get("decision", "")
        if decision == "reviewed":
            self.mark_one_reviewed(request, finding)
            return self._go_on(request, filters, finding, f"Reviewed: {finding}")
        if decision == "to_review":
            return self._put_back(request, filters, finding)
        if decision not in LABELS:
            raise Http404("There is no such decision.")
        form = DecisionForm(request.POST, decision=decision)
        if form.is_valid():
            try:
                form.apply(finding, by=user_name(request), now=timezone.now())
            except ValidationError as refusal:
                form.add_error(None, refusal.messages)
            else:
                self.log_change(request, finding, format_lazy("{}: {}", form.label, form.text()))
                done = f"{form.label}: {finding}"
                return self._go_on(request, filters, finding, done)
        return self._page(request, filters, finding, failed_form=form)

    def mark_one_reviewed(self, request: HttpRequest, finding: Finding) -> bool:
        """Take the finding out of the queue, and record it; return False if it was reviewed before."""
        with transaction.atomic():
            waiting = Finding.objects.filter(pk=finding.pk, reviewed_at__isnull=True)
            is_changed = bool(waiting.update(reviewed_at=timezone.now()))
            if is_changed:
                self.log_change(request, finding, "Marked as reviewed.")
        return is_changed

    def _put_back(self, request: HttpRequest, filters: QueueFilters, finding: Finding) -> HttpResponse:
        """Put the finding back into the queue, and take back its confirmation."""
        done = "The finding is in the queue again."
        if finding.source_kind is not None:
            reason = REASONS[UNCONFIRM]["again"]
            unconfirm(finding, by=user_name(request), reason=reason, now=timezone.now())
            done = "The finding is in the queue again, and no longer confirmed by an analyst."
        Finding.objects.filter(pk=finding.pk).update(reviewed_at=None)
        self.log_change(request, finding, "Put back into the queue.")
        self.message_user(request, done, messages.SUCCESS)
        return redirect(filters.url(finding.pk))

    def add_note(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Add a note about the finding, internal or for customers."""
        may_add = request.user.has_perm("dashboard_api.add_analystnote")
        filters, finding = self._filters_and_finding(request, pk, may_add)
        note = AnalystNote(website=finding.website, finding=finding, author=user_name(request))
        form = NoteForm(request.POST or None, finding=finding, instance=note)
        if form.is_valid():
            self.log_addition(request, form.save(), "Added in the workbench.")
            self.message_user(request, "The note was added.", messages.SUCCESS)
            return redirect(filters.url(finding.pk))
        return self._page(request, filters, finding, note_form=form)

    def publish_note(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Publish an internal note to its customers."""
        self._require(request.user.has_perm("dashboard_api.change_analystnote"))
        self._require(self.has_view_permission(request))
        note = get_object_or_404(AnalystNote, pk=min(pk, MAX_ID))
        if request.method == "POST" and note.is_internal:
            note.is_internal = False
            note.save()
            self.log_change(request, note, "Published.")
            self.message_user(request, "The note is published.", messages.SUCCESS)
        return redirect(_filters_of(request).url(note.finding_id))

    def decide_selected(self, request: HttpRequest) -> HttpResponse:
        """Perform an action on the selected findings, after a page that names websites and customers."""
        self._require(self.has_operate_permission(request))
        filters = _filters_of(request)
        selected = map(as_id, request.POST.getlist("_selected_action"))
        ids = [pk for pk in selected if pk is not None]
        action = request.POST.get("action", "")
        if request.method != "POST" or action not in SELECTED_ACTIONS:
            return redirect(filters.url())
        if not ids:
            self.message_user(request, "Select findings first.", messages.WARNING)
            return redirect(filters.url())
        findings = Finding.objects.filter(pk__in=ids).select_related("website", "source").worst_first()
        response: HttpResponse | None = getattr(self, action)(request, findings)
        return response or redirect(filters.url())

    def _require(self, allowed: bool) -> None:
        if not allowed:
            raise PermissionDenied

    def _finding(self, pk: int) -> Finding:
        return get_object_or_404(Finding.objects.select_related("website", "source"), pk=pk)

    def _filters_and_finding(
        self, request: HttpRequest, pk: int, allowed: bool
    ) -> tuple[QueueFilters, Finding]:
        """Return the filters and the finding of a form; checks permissions before it reads the database."""
        self._require(allowed and self.has_view_permission(request))
        return _filters_of(request), self._finding(min(pk, MAX_ID))

    def _go_on(
        self, request: HttpRequest, filters: QueueFilters, finding: Finding, done: str
    ) -> HttpResponse:
        """Say what was done, with a link back to the finding, and go on to the next one."""
        back = format_html('{} <a href="{}">{}</a>', done, filters.url(finding.pk), "Show it again")
        self.message_user(request, back, messages.SUCCESS)
        following = as_id(request.POST.get("next", ""))
        exists = following is not None and Finding.objects.filter(pk=following).exists()
        return redirect(filters.url(following if exists else None))

    def _page(
        self,
        request: HttpRequest,
        filters: QueueFilters,
        finding: Finding | None,
        *,
        failed_form: DecisionForm | None = None,
        note_form: NoteForm | None = None,
    ) -> HttpResponse:
        queue = read_queue(filters, finding.pk if finding else None)
        if finding is None and queue.current is not None:
            finding = self._finding(queue.current)
        context = self.admin_site.each_context(request) | {
            "title": "Workbench",
            "opts": self.opts,
            "filters": filters,
            "queue": queue,
            "panel": finding_panel(finding) if finding else None,
            "severities": [(str(value), label) for value, label in SEVERITY_LABELS.items()],
            "sources": Source.objects.values_list("slug", "name"),
            "queues": [("", "To review"), (ALL_OPEN, "All open findings")],
            "actions": [item for item in self.get_action_choices(request, []) if item[0] in SELECTED_ACTIONS],
            "may_decide": self.has_operate_permission(request),
            "may_view_accounts": request.user.has_perm("dashboard_api.view_account"),
        }
        if finding:
            context |= {
                "decisions": [
                    failed_form
                    if failed_form and failed_form.decision == name
                    else DecisionForm(decision=name)
                    for name in decisions_for(finding)
                ],
                "failed": failed_form,
                "note_form": note_form or NoteForm(finding=finding),
            }
        return TemplateResponse(request, "admin/dashboard_api/finding/workbench.html", context)


def _filters_of(request: HttpRequest) -> QueueFilters:
    """Return the filters of the queue that sent a form."""
    return QueueFilters.from_query(QueryDict(request.POST.get("back", "")[:1000]))
