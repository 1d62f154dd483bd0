"""The page of the audit log, and its file."""

from collections.abc import Collection
from dataclasses import replace

from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from audit.models import AuditEvent
from portal.activity import events
from portal.activity.forms import ActivityForm
from portal.files.places import send_csv
from portal.models import Membership
from portal.pages.access import file_of, members_only

PAGE_ROWS = 50


@require_safe
@members_only
@gzip_page
def activity(request: HttpRequest) -> HttpResponse:
    """Show the events of the person's accounts, the newest first; ``before`` continues the list."""
    accounts = events.owned_accounts(request.user)
    form, found = _filtered(request, accounts)
    before = request.GET.get("before", "")
    if before.isascii() and before.isdigit() and len(before) < 19:  # an id fits into 64 bits
        found = found.filter(pk__lt=int(before))
    rows = events.rows(found[: PAGE_ROWS + 1]) if accounts else []
    query = request.GET.copy()
    query.pop("before", None)
    context = {
        "form": form,
        "has_accounts": bool(accounts),
        "has_several_accounts": len(accounts) > 1,
        "rows": [replace(row, account=accounts.get(row.account, "")) for row in rows[:PAGE_ROWS]],
        "older_query": _query_of_older(query, rows),
        "csv_query": query.urlencode(),
    }
    return render(request, "portal/activity/index.html", context)


@require_safe
@file_of("portal:activity")
@members_only
def activity_csv(request: HttpRequest) -> HttpResponseBase:
    """Send the events that match the page's filters as a file."""
    _form, found = _filtered(request, events.owned_accounts(request.user))
    owned = Membership.objects.of_user(request.user).owners().order_by("account")
    account_id = owned.values_list("account", flat=True).first()
    return send_csv(request, "activity", account_id or 0, lambda: events.write_csv(found))


def _filtered(request: HttpRequest, accounts: Collection[str]) -> tuple[ActivityForm, QuerySet[AuditEvent]]:
    """Return the form of the filters, and the matching events; raises BadRequest for an invalid filter."""
    found = events.events_of(accounts)
    form = ActivityForm(request.GET, people=events.people_in(found) if accounts else {})
    if not form.is_valid():
        raise BadRequest
    return form, form.apply_to(found)


def _query_of_older(query: QueryDict, rows: list[events.ActivityRow]) -> str:
    """Return the query string of the next page; empty on the last."""
    if len(rows) <= PAGE_ROWS:
        return ""
    older = query.copy()
    older["before"] = str(rows[PAGE_ROWS - 1].pk)
    return older.urlencode()
