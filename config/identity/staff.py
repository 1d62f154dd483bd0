"""Conditions for using the admin: a second factor, and a fresh proof of identity for some changes."""

import functools
import re
from collections.abc import Callable
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters, InlineModelAdmin
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, ValidationError
from django.db import DataError, NotSupportedError
from django.db.models import BinaryField, DurationField, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import resolve, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from foundation.pages.edit_conflicts import SeesConflicts
from portal.pages.urls import referring_page

# Prefixes of the names of pages for daily work, which neither gives nor takes access.
_EVERYDAY = (
    "dashboard_api_analystnote_",
    "dashboard_api_coverage_",
    "dashboard_api_crawlerstop_",
    "dashboard_api_finding_",
    "dashboard_api_importrun_",
    "dashboard_api_scanjob_",
    "dashboard_api_scanoptout_",
    "dashboard_api_source_",
    "dashboard_api_standingdecision_",
    "dashboard_api_website_import",
    "dashboard_api_website_upload",
    "logout",
)
# Forms with passwords: the proof comes first, because the session stores a form that waits for it.
_WITH_PASSWORDS = ("auth_user_add", "auth_user_password_change")
# Lookups that no page uses; the last three take several values.
_REFUSED_LOOKUPS = {"regex", "iregex", "range", "has_keys", "has_any_keys"}
# Parts of names of fields that no page shows.
_SECRET_FIELDS = re.compile("sealed|digest|password|token|data__")
_UNREADABLE_FIELDS = (BinaryField, DurationField)  # Django cannot read their values from an address
_WAITING = "admin_forms_waiting"  # in the session: the numbers of forms by path
AdminView = Callable[..., Any]


def limit_filters() -> None:
    """Make the admin refuse filters, ids and actions that Django accepts but that no page of ours sends.

    Impossible times and lookups that SQLite lacks count as wrong filters. A regular expression could keep a
    process busy for hours, because Python evaluates it for SQLite. Filters on sealed columns and digests
    would reveal them letter by letter. An id that the database cannot store gets 404, or 400 in an action.
    """
    # Django's methods, which ours call.
    read_list, is_allowed = ModelAdmin.get_changelist_instance, ModelAdmin.lookup_allowed
    read_object, respond_to_action = ModelAdmin.get_object, ModelAdmin.response_action

    def get_changelist_instance(self: Any, request: HttpRequest) -> Any:
        try:
            return read_list(self, request)
        except (NotSupportedError, OverflowError, ValueError) as error:
            raise IncorrectLookupParameters from error

    def no_initial_data(_self: Any, _request: HttpRequest) -> dict[str, Any]:
        """Return no values from the address: a link could otherwise fill in a form for a click on Save."""
        return {}

    def lookup_allowed(self: Any, lookup: str, value: Any, request: HttpRequest) -> bool:
        fields = self.opts.concrete_fields
        refused = _REFUSED_LOOKUPS | {field.name for field in fields if isinstance(field, _UNREADABLE_FIELDS)}
        names = lookup.split("__")
        if _SECRET_FIELDS.search(lookup) or not refused.isdisjoint(names):
            return False
        return is_allowed(self, lookup, value, request)

    def get_object(self: Any, *args: Any) -> Any:
        try:
            return read_object(self, *args)
        except (DataError, OverflowError):
            return None

    def response_action(self: Any, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        try:
            queryset.filter(pk__in=request.POST.getlist(ACTION_CHECKBOX_NAME)).exists()
        except (DataError, OverflowError, ValidationError, ValueError) as error:
            raise BadRequest from error
        return respond_to_action(self, request, queryset)

    ModelAdmin.response_action = response_action  # type: ignore[assignment,method-assign]
    ModelAdmin.get_changelist_instance = get_changelist_instance  # type: ignore[method-assign]
    ModelAdmin.lookup_allowed = lookup_allowed  # type: ignore[method-assign]
    ModelAdmin.get_changeform_initial_data = no_initial_data  # type: ignore[assignment,method-assign]
    ModelAdmin.get_object = get_object  # type: ignore[assignment,method-assign]


def refuse_forms_after_changes() -> None:
    """Make admin forms detect changes by others since the page was opened.

    Otherwise, saving an account's page that was opened before a colleague suspended it lifts the suspension.
    """
    read_form, read_formset = ModelAdmin.get_form, InlineModelAdmin.get_formset

    def seeing_conflicts(form: Any) -> Any:
        return type(form.__name__, (SeesConflicts, form), {})

    def get_form(self: Any, *args: Any, **kwargs: Any) -> Any:
        return seeing_conflicts(read_form(self, *args, **kwargs))

    def get_formset(self: Any, *args: Any, **kwargs: Any) -> Any:
        formset = read_formset(self, *args, **kwargs)
        formset.form = seeing_conflicts(formset.form)
        return formset

    ModelAdmin.get_form = get_form  # type: ignore[method-assign]
    InlineModelAdmin.get_formset = get_formset  # type: ignore[method-assign]


def protected(admin_view: AdminView) -> AdminView:
    """Return ``AdminSite.admin_view`` with the two conditions of this module for every page.

    A form of a signed-out person leads to the sign-in and back, with a message, as in the portal.
    """

    @functools.wraps(admin_view)
    def protect(view: AdminView, cacheable: bool = False) -> AdminView:
        inner = admin_view(view, cacheable)

        @functools.wraps(inner)
        def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            user = request.user
            is_script = request.headers.get("HX-Request") == "true"
            was_signed_out = not user.is_authenticated and (request.method == "POST" or is_script)
            if was_signed_out and _page(request) != "logout":
                sign_in = _sign_in(request)
                return HttpResponseClientRedirect(sign_in) if is_script else redirect(sign_in)
            is_bound_staff = settings.STAFF_SECOND_FACTOR and user.is_authenticated and user.is_staff
            if is_bound_staff and not is_mfa_enabled(user):  # type: ignore[arg-type]
                messages.warning(
                    request,
                    _("Set up an authenticator app or a passkey first: staff need a second step to sign in."),
                )
                return redirect("account")
            if is_bound_staff:
                _warn_of_lost_form(request)
            if is_bound_staff and _needs_proof(request):
                return _confirmed(inner, request, *args, **kwargs)
            response: HttpResponse = inner(request, *args, **kwargs)
            return response

        return respond

    return protect


def _sign_in(request: HttpRequest) -> str:
    """Return the address of the sign-in; it leads back to the link, or to the page of the form."""
    page = request.get_full_path()
    if request.method == "POST":
        messages.warning(request, _("You were signed out, so nothing was changed. Sign in and try again."))
        page = referring_page(request) or reverse("admin:index")
    return redirect_to_login(page).url


def _needs_proof(request: HttpRequest) -> bool:
    """Return whether the page may give or take access: every admin form except those of daily work."""
    page = _page(request)
    return page in _WITH_PASSWORDS or (request.method == "POST" and not page.startswith(_EVERYDAY))


def _confirmed(view: AdminView, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    """Return the response of ``view`` if the proof is fresh; otherwise ask for it."""
    holds_secret = _page(request) in _WITH_PASSWORDS or request.POST.get("secret")
    waits = request.method == "POST" and is_reauthentication_required(request, app="")
    if waits and holds_secret:
        messages.info(request, _("Please fill in the form again: passwords and secrets are not kept."))
        query = urlencode({REDIRECT_FIELD_NAME: request.get_full_path()})
        return redirect(f"{reverse('account_reauthenticate')}?{query}")
    # allauth repeats a form only if it waits under its path without a query; the query is still in GET.
    query = request.GET.urlencode()
    request.META["QUERY_STRING"] = "" if waits else query
    _count_waiting(request, 1 if waits else -1)
    response: HttpResponse = reauthentication_required(view)(request, *args, **kwargs)
    return response


def _count_waiting(request: HttpRequest, change: int) -> None:
    """Count the forms of a page that wait for a proof: allauth repeats only the last one in a session."""
    if request.method == "POST":
        waiting = request.session.get(_WAITING, {})
        number = max(0, waiting.get(request.path, 0) + change)
        if number != waiting.get(request.path, 0):
            waiting.pop(request.path, None)
            request.session[_WAITING] = waiting | ({request.path: number} if number else {})


def _warn_of_lost_form(request: HttpRequest) -> None:
    """Warn on the page of a form that it was not repeated."""
    waiting = request.session.get(_WAITING, {})
    if request.method == "GET" and waiting.pop(request.path, None):
        request.session[_WAITING] = waiting
        text = _("Nothing more was changed. If it is not done yet, please send the form again.")
        messages.warning(request, text)


def _page(request: HttpRequest) -> str:
    """Return the name of the page; a request that allauth repeats has no ``resolver_match``."""
    return resolve(request.path_info).url_name or ""
