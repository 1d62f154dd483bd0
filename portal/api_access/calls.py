"""The tab with an account's recorded signed calls, for its owners, also as a file."""

import re
from collections.abc import Iterator
from datetime import UTC

import msgspec
from django import forms
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from portal.answers import service
from portal.files.places import send_csv
from portal.files.spreadsheets import BYTE_ORDER_MARK, csv_lines, without_formula
from portal.models import Account, Membership
from portal.pages.access import file_of, members_only
from portal.pages.error_pages import logged_error_page, render_with_error
from portal.pages.forms import OneAccount
from signed_api.account import CallsRequest, CallsResponse, SignedCall
from signed_api.errors import CallError
from signed_api.values import CALL_PATTERN

PAGE_ROWS = 50
FILE_PAGE_ROWS = 1_000  # the service's limit
MAX_ROWS = 10_000  # of a file: at most ten calls to the service, which records them as well
COLUMNS = (
    "time",
    "account",
    "secret",
    "secret_id",
    "call",
    "website",
    "status",
    "code",
    "request",
    "address",
)
INCOMPLETE = "INCOMPLETE: the list ends here because of an error. Export it again."
MORE = f"INCOMPLETE: a file has at most {MAX_ROWS:,} calls. Choose a day, or read them over the API."
_CALL_POSITION = re.compile(CALL_PATTERN, re.ASCII)  # of a call in the list, as the service writes it


class FileInterrupted(Exception):
    """The file is incomplete; the server closes the connection, so the download fails."""


class CallsForm(OneAccount, forms.Form):
    """Filters by account, day and outcome; ``accounts`` are the person's own, at least one."""

    account = forms.ChoiceField(label=_("Organization"), required=False)
    day = forms.DateField(
        label=_("Day (UTC)"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    outcome = forms.ChoiceField(
        label=_("Outcome"),
        required=False,
        choices=[("", _("Every outcome")), ("answered", _("Answered")), ("refused", _("Refused or failed"))],
    )

    def to_request(self, *, before: str, page_size: int) -> CallsRequest:
        """Return the request for the calls that match the filters and are older than ``before``."""
        return CallsRequest(
            day=self.cleaned_data["day"],
            outcome=self.cleaned_data["outcome"],
            before=before if _CALL_POSITION.fullmatch(before) else "",
            page_size=page_size,
        )


@require_safe
@members_only
@gzip_page
def calls(request: HttpRequest) -> HttpResponse:
    """Show the signed calls of an account, the newest first; ``before`` continues the list."""
    form = _form(request)
    if form is None:
        return render(request, "portal/api_access/calls.html")
    wanted = form.to_request(before=request.GET.get("before", ""), page_size=PAGE_ROWS)
    try:
        found = service.get_calls(form.chosen_account, wanted)
    except CallError as error:
        return _refused(request, form, error)
    query = request.GET.copy()
    query.pop("before", None)
    context = {"form": form, "rows": found.calls, "csv_query": query.urlencode()}
    if found.before:
        query["before"] = found.before
        context["older_query"] = query.urlencode()
    return render(request, "portal/api_access/calls.html", context)


@require_safe
@file_of("portal:calls")
@members_only
def calls_csv(request: HttpRequest) -> HttpResponseBase:
    """Send the calls with the filters of the page as a file."""
    form = _form(request)
    if form is None:
        raise Http404
    account = form.chosen_account
    wanted = form.to_request(before="", page_size=FILE_PAGE_ROWS)
    try:
        first = service.get_calls(account, wanted)
    except CallError as error:
        return _refused(request, form, error)
    return send_csv(request, "calls", account.pk, lambda: _lines(account, wanted, first))


def _form(request: HttpRequest) -> CallsForm | None:
    """Return the valid form, or None for a person who owns no account; raises BadRequest."""
    owned = Membership.objects.of_user(request.user).owners().values("account")
    accounts = list(Account.objects.filter(pk__in=owned))
    if not accounts:
        return None
    form = CallsForm(request.GET, accounts=accounts)
    if not form.is_valid():
        raise BadRequest
    return form


def _refused(request: HttpRequest, form: CallsForm, error: CallError) -> HttpResponse:
    """Return the page with an error in place of the list."""
    error_page = logged_error_page(error, form.chosen_account.ref)
    return render_with_error(request, "portal/api_access/calls.html", error_page, form=form)


def _lines(account: Account, request: CallsRequest, page: CallsResponse) -> Iterator[str]:
    """Yield the header, then the calls; ``page`` is the first response to ``request``.

    The last line says if the file is incomplete; after an error, FileInterrupted is raised as well.
    """
    yield BYTE_ORDER_MARK + csv_lines([COLUMNS]) + _rows(account, page)
    for _number in range(MAX_ROWS // FILE_PAGE_ROWS - 1):
        if not page.before:
            return
        try:
            page = service.get_calls(account, msgspec.structs.replace(request, before=page.before))
        except CallError as error:
            yield csv_lines([[INCOMPLETE]])
            raise FileInterrupted from error
        yield _rows(account, page)
    if page.before:
        yield csv_lines([[MORE]])


def _rows(account: Account, page: CallsResponse) -> str:
    return csv_lines([without_formula(cell) for cell in _cells(account, call)] for call in page.calls)


def _cells(account: Account, call: SignedCall) -> list[str]:
    at = call.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    answer = [str(call.status), call.code or "", call.request_id, call.address]
    return [at, account.ref, call.secret_hint, call.secret_id, call.route, call.host or "", *answer]
