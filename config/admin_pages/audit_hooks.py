"""Hooks that record sign-ins, the admin, refusals, and every other successful form."""

import re
from collections.abc import Callable, Iterable
from textwrap import wrap
from typing import Any

from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from allauth.account.signals import password_changed, password_reset, password_set
from allauth.core.internal import ratelimit
from allauth.core.internal.httpkit import get_client_ip
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from allauth.utils import get_request_param
from django.contrib.admin import ModelAdmin
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntryManager
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.models import Permission
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Model, QuerySet
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.urls import ResolverMatch, resolve, reverse

from audit.models import MAX_TEXT_LENGTH, AuditEvent
from audit.recording import Acting, Person, Subject, acting, has_recorded, record
from config.identity.sessions import browser_name
from config.identity.sign_in import person_named
from config.web.errors import is_api
from config.web.form_limit import PROOFS

# Forms that need no audit event, each with the reason.
CHANGES_NOTHING = {
    "set_language": "a cookie of the browser",
    "theme": "a cookie of the browser",
    "switch_keys": "a cookie of the browser",
    "account_login": "the sign-in has an event",
    "account_logout": "the sign-out has an event",
    "end_other_sessions": "sessions that it ends have an event",
    "admin:login": "the sign-in has an event",
    "admin:logout": "the sign-out has an event",
    "account_reauthenticate": "a proof of identity; a wrong one has an event",
    "mfa_reauthenticate": "a proof of identity; a wrong one has an event",
    "mfa_reauthenticate_webauthn": "a proof of identity; a wrong one has an event",
    "mfa_authenticate": "the sign-in has an event",
    "mfa_login_webauthn": "the sign-in has an event",
    "portal:api_test_call": "a call of the portal that only reads",
}
_UNKNOWN = Person(None, "(unknown name)")
_REDIRECTS = (302, 303)  # a form that changed something redirects; with 200, the page shows the form again
_VERBS = {ADDITION: "added", CHANGE: "changed", DELETION: "deleted"}
_OBJECT_ARGUMENTS = ("host", "finding_id", "object_id", "account", "membership", "website")
_VALUES = "_audit_values"  # attribute of a saved object: its changed values before and after
_SENSITIVE_BY_NAME_ONLY = {"is_superuser", "user_permissions"}  # their values name no person
_SENSITIVE = re.compile("password|secret|token|sealed|digest|user|name|email|owner")


def on_record(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Return middleware that notes who acts, and records refusals and forms that recorded no event."""

    def respond(request: HttpRequest) -> HttpResponse:
        with acting(_acting_in(request)) as acts:
            response = get_response(request)
            if not is_api(request) and not _is_lost(request):
                _record_response(request, response, acts)
            return response

    respond.process_view = _note_page_after_proof  # type: ignore[attr-defined]
    return respond


def _note_page_after_proof(request: HttpRequest, *_: Any) -> None:
    """Note the page to which a proof of identity leads; guards have checked the length of the body."""
    if request.method == "POST" and request.path in map(reverse, PROOFS):
        page = get_request_param(request, REDIRECT_FIELD_NAME)  # as allauth reads it
        request.pages_of_proof = (request.path, page)  # type: ignore[attr-defined]


def _is_lost(request: HttpRequest) -> bool:
    """Return whether allauth did not repeat the form that waited for a proof: another page came next."""
    proof, page = getattr(request, "pages_of_proof", ("", ""))
    return bool(page) and request.path not in (proof, page)


def _acting_in(request: HttpRequest) -> Acting:
    if is_api(request):
        return Acting()
    kinds = AuditEvent.Kind
    return Acting(
        # Read when an event is recorded: allauth repeats an admin form on the page of the proof.
        kind=lambda: kinds.STAFF if request.path.startswith("/admin/") else kinds.PERSON,
        person=lambda: Person(request.user.pk, request.user.get_username()) if request.user.pk else None,
        address=(get_client_ip(request) or "")[:45],
        browser=browser_name(request.headers.get("User-Agent", "")),
    )


def _record_response(request: HttpRequest, response: HttpResponse, acts: Acting) -> None:
    """Record a refusal, or a form that changed something.

    Requests without a signed-in person are not recorded; refusals of one person only up to a rate limit.
    """
    is_form = request.method not in ("GET", "HEAD", "OPTIONS")
    is_refused = response.status_code == 403 or (is_form and response.status_code == 404)
    if not (is_form or is_refused):
        return
    # Resolve again: allauth may have repeated another form after a proof of identity.
    match = resolve(request.path_info) if request.resolver_match else None
    page = match.view_name if match else ""
    location = response.get("Location", "").partition("?")[0]
    waits_for_proof = location in map(reverse, PROOFS) and is_reauthentication_required(request, app="")
    is_redirect = is_form and response.status_code in _REDIRECTS
    is_change = is_redirect and page not in CHANGES_NOTHING and not waits_for_proof
    needs_no_event = not is_change or bool(acts.recorded)
    if (needs_no_event and not is_refused) or acts.person() is None:
        return
    if is_refused and not ratelimit.consume(
        request, app="allauth.account", action="refused", limit_get=True, user=request.user
    ):
        return
    action, outcome = ("access.refused", "refused") if is_refused else ("form.sent", "done")
    names = request.POST.getlist("action")[:1] if is_change else []  # of the admin's action for a list
    record(
        action,
        Subject("page", page, _object_of(match)),
        after={"action": names[0]} if names else None,
        outcome=outcome,
        may_wait=True,
    )


def _object_of(match: ResolverMatch | None) -> str:
    """Return the parts of the address that name an object; other parts may be tokens."""
    kwargs = match.kwargs if match else {}
    return " ".join(str(value) for name, value in kwargs.items() if name in _OBJECT_ARGUMENTS)


@receiver(user_logged_in)
def _signed_in(user: Any, **_: Any) -> None:
    record("sign_in.done", user, by=user, may_wait=True)


@receiver(user_logged_out)
def _signed_out(user: Any, **_: Any) -> None:
    if user is not None:
        record("sign_out.done", user, by=user, may_wait=True)


@receiver(user_login_failed)
def _sign_in_failed(credentials: dict[str, Any], **_: Any) -> None:
    """Record a failed sign-in, with the same work for known and unknown names.

    An unknown name is not stored: it may be a password, typed into the wrong field.
    """
    name = str(credentials.get("username") or credentials.get("email") or "")
    record("sign_in.failed", person_named(name) or _UNKNOWN, outcome="refused", may_wait=True)


@receiver([password_changed, password_reset, password_set])
def _password_changed(user: Any, **_: Any) -> None:
    record("password.changed", user, by=user)


@receiver(authenticator_added)
def _factor_added(user: Any, authenticator: Any, **_: Any) -> None:
    record("second_factor.added", user, by=user, after={"type": authenticator.type})


@receiver(authenticator_removed)
def _factor_removed(user: Any, authenticator: Any, **_: Any) -> None:
    record("second_factor.removed", user, by=user, before={"type": authenticator.type})


@receiver(authenticator_reset)
def _factor_reset(user: Any, authenticator: Any, **_: Any) -> None:
    record("second_factor.renewed", user, by=user, after={"type": authenticator.type})


def watch_admin() -> None:
    """Make the admin's log of additions, changes and deletions write audit events with the changed values."""
    # Django's methods, which ours call.
    write_log, describe = LogEntryManager.log_actions, ModelAdmin.construct_change_message

    def log_actions(
        self: Any, user_id: int, queryset: Iterable[Model], action_flag: int, *args: Any, **options: Any
    ) -> Any:
        entries = write_log(self, user_id, queryset, action_flag, *args, **options)
        for each in queryset:
            if not has_recorded(each):
                before, after = getattr(each, _VALUES, (None, None))
                record(f"admin.{_VERBS[action_flag]}", each, before=before, after=after)
        return entries

    def describe_and_note(self: Any, request: HttpRequest, form: Any, *args: Any, **options: Any) -> Any:
        if isinstance(getattr(form, "instance", None), Model):
            setattr(form.instance, _VALUES, _changed_values(form))
        return describe(self, request, form, *args, **options)

    LogEntryManager.log_actions = log_actions  # type: ignore[assignment,method-assign]
    ModelAdmin.construct_change_message = describe_and_note  # type: ignore[method-assign]


def _changed_values(form: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the changed fields before and after, without secrets and people's names.

    For a set of objects, such as permissions, ``before`` has the removed ones, and ``after`` the added ones.
    """
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for name in form.changed_data:
        old, new = form.initial.get(name), form.cleaned_data.get(name)
        if _SENSITIVE.search(name) and name not in _SENSITIVE_BY_NAME_ONLY:
            before[name] = after[name] = "..."
        elif isinstance(new, QuerySet):
            former = {_value(each) for each in old or ()}
            current = {_value(each) for each in new}
            before |= _in_parts(name, former - current)
            after |= _in_parts(name, current - former)
        else:
            before[name], after[name] = _value(old), _value(new)
    return before, after


def _in_parts(name: str, values: set[Any]) -> dict[str, str]:
    """Split the values into texts of at most ``MAX_TEXT_LENGTH``, named ``name``, "name 2" and so on."""
    parts = wrap(", ".join(sorted(map(str, values))), MAX_TEXT_LENGTH) or [""]
    return {f"{name} {number}" if number > 1 else name: part for number, part in enumerate(parts, 1)}


def _value(value: Any) -> Any:
    match value:
        case Permission():
            return value.codename
        case Model():
            return value.pk
        case list() | tuple():
            return ", ".join(str(_value(each)) for each in value)
        case _:
            return value
