"""The page of the activity of an account, and its file."""

from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from audit.models import AuditEvent
from portal.access import members_only
from portal.activity import events
from portal.activity.forms import ActivityForm

PAGE_ROWS = 50


@require_safe
@members_only
@gzip_page
def activity(request: HttpRequest) -> HttpResponse:
    """Show the events of the person's accounts, the newest first; ``before`` continues the list."""
    accounts = events.owned_accounts(request.user)
    form, found = _filtered(request, accounts)
    before = request.GET.get("before", "")
    if before.isascii() and before.isdigit() and len(before) < 19:
        found = found.filter(pk__lt=int(before))
    rows = events.rows(found[: PAGE_ROWS + 1]) if accounts else []
    query = request.GET.copy()
    query.pop("before", None)
    context = {
        "form": form,
        "has_accounts": bool(accounts),
        "has_several_accounts": len(accounts) > 1,
        "rows": rows[:PAGE_ROWS],
        "older_query": _older(query, rows),
        "csv_query": query.urlencode(),
    }
    return render(request, "portal/activity/index.html", context)


@require_safe
@members_only
def activity_csv(request: HttpRequest) -> HttpResponseBase:
    """Send the events with the filters of the page as a file."""
    _form, found = _filtered(request, events.owned_accounts(request.user))
    content = (text.encode(errors="replace") for text in events.write_csv(found))
    response = StreamingHttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="activity-{timezone.now():%Y-%m-%d}.csv"'
    response["Cache-Control"] = "private, no-store"
    return response


def _filtered(request: HttpRequest, accounts: list[str]) -> tuple[ActivityForm, QuerySet[AuditEvent]]:
    """Return the form of the filters, and the events that they leave; raises BadRequest for a wrong one."""
    found = events.events_of(accounts)
    form = ActivityForm(request.GET, people=events.people_in(found) if accounts else {})
    if not form.is_valid():
        raise BadRequest
    return form, form.apply_to(found)


def _older(query: QueryDict, rows: list[events.ActivityRow]) -> str:
    """Return the query string of the next page; empty on the last."""
    if len(rows) <= PAGE_ROWS:
        return ""
    older = query.copy()
    older["before"] = str(rows[PAGE_ROWS - 1].pk)
    return older.urlencode()
