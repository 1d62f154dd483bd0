"""The pages of the actions and the calls of an account, and their files."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from audit.models import AuditEvent
from foundation.places import NoPlace
from portal import service
from portal.access import file_of, members_only
from portal.activity import calls as signed_calls
from portal.activity import events
from portal.activity.calls import CallsForm
from portal.activity.forms import ActivityForm
from portal.error_pages import ErrorPage, logged_error_page
from portal.gateway import GatewayError
from portal.models import Membership
from portal.places import hold_place

PAGE_ROWS = 50
BUSY_SECONDS = 5


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
        "section": "actions",
        "form": form,
        "has_accounts": bool(accounts),
        "has_several_accounts": len(accounts) > 1,
        "rows": [replace(row, account=accounts.get(row.account, "")) for row in rows[:PAGE_ROWS]],
        "older_query": _older(query, rows),
        "csv_query": query.urlencode(),
    }
    return render(request, "portal/activity/index.html", context)


@require_safe
@file_of("portal:activity")
@members_only
def activity_csv(request: HttpRequest) -> HttpResponseBase:
    """Send the events with the filters of the page as a file."""
    _form, found = _filtered(request, events.owned_accounts(request.user))
    owned = Membership.objects.of_user(request.user).owners().order_by("account")
    account_id = owned.values_list("account", flat=True).first()
    return _file(request, "activity", account_id or 0, lambda: events.write_csv(found))


@require_safe
@members_only
@gzip_page
def calls(request: HttpRequest) -> HttpResponse:
    """Show the signed calls of an account, the newest first; ``before`` continues the list."""
    form = _calls_form(request)
    if form is None:
        return render(request, "portal/activity/calls.html", {"section": "calls"})
    wanted = form.to_request(before=request.GET.get("before", ""), page_size=signed_calls.PAGE_ROWS)
    context = {"section": "calls", "form": form, "has_accounts": True}
    try:
        found = service.get_calls(form.chosen_account, wanted)
    except GatewayError as error:
        return _refused(request, context, logged_error_page(error, form.chosen_account.ref))
    query = request.GET.copy()
    query.pop("before", None)
    context |= {"rows": found.calls, "csv_query": query.urlencode()}
    if found.before:
        query["before"] = found.before
        context["older_query"] = query.urlencode()
    return render(request, "portal/activity/calls.html", context)


@require_safe
@file_of("portal:calls")
@members_only
def calls_csv(request: HttpRequest) -> HttpResponseBase:
    """Send the calls with the filters of the page as a file."""
    form = _calls_form(request)
    if form is None:
        raise Http404
    account = form.chosen_account
    wanted = form.to_request(before="", page_size=signed_calls.FILE_PAGE_ROWS)
    try:
        first = service.get_calls(account, wanted)
    except GatewayError as error:
        context = {"section": "calls", "form": form, "has_accounts": True}
        return _refused(request, context, logged_error_page(error, account.ref))
    return _file(request, "calls", account.pk, lambda: signed_calls.write_csv(account, wanted, first))


def _calls_form(request: HttpRequest) -> CallsForm | None:
    """Return the valid form; None for a person who owns no account; raises BadRequest for a wrong filter."""
    accounts = signed_calls.owned_accounts(request.user)
    if not accounts:
        return None
    form = CallsForm(request.GET, accounts=accounts)
    if not form.is_valid():
        raise BadRequest
    return form


def _refused(request: HttpRequest, context: dict[str, object], error_page: ErrorPage) -> HttpResponse:
    """Return the page of the calls with an error in place of the list."""
    context |= {"error_page": error_page, "page": {"url": request.get_full_path()}}
    response = render(request, "portal/activity/calls.html", context, status=error_page.status)
    if error_page.retry_after:
        response["Retry-After"] = str(error_page.retry_after)
    return response


def _file(
    request: HttpRequest, name: str, account_id: int, write: Callable[[], Iterator[str]]
) -> HttpResponseBase:
    """Return a streamed CSV file, which may last minutes; 503 while the account has its place."""
    try:
        hold_place(request, account_id)
    except NoPlace:
        busy = render(request, "503.html", status=503)
        busy["Retry-After"] = str(BUSY_SECONDS)
        return busy
    content = (text.encode(errors="replace") for text in write())
    response = StreamingHttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-{timezone.now():%Y-%m-%d}.csv"'
    response["Cache-Control"] = "private, no-store"
    return response


def _filtered(request: HttpRequest, accounts: Collection[str]) -> tuple[ActivityForm, QuerySet[AuditEvent]]:
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
