"""The page of a person's own account: second factors, open sessions and memberships."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from audit.recording import record
from config.identity import sessions
from config.identity.sessions import SIGNED_IN, stored_key
from config.models import Session
from foundation.pages.proofs import lost_form, require_proof

MIN_CODES = 3  # recovery codes; with fewer, the person should make new ones


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A browser in which the person is signed in; ``browser`` and ``signed_in_at`` may be unknown."""

    browser: str
    signed_in_at: datetime | None
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """An item of the security checklist; ``url`` leads to the fix, and may be empty."""

    is_done: bool
    text: str
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountPage:
    """Contents of the account page."""

    app: Authenticator | None  # the authenticator app
    passkeys: tuple[Authenticator, ...]
    codes_left: int | None  # without recovery codes, None
    sessions: tuple[SessionRow, ...]  # the current one first
    checks: tuple[Check, ...]
    memberships: tuple[Any, ...]


@require_safe
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show the account page, and store its language for e-mails about changes made there."""
    if settings.ENABLE_PORTAL:
        from portal.models.languages import record_language

        record_language(request.session, request.user.pk or 0)
    page = account_page(request.user, session_key=request.session.session_key or "")
    return render(request, "account/index.html", {"page": page})


@login_required
def end_other_sessions(request: HttpRequest) -> HttpResponse:
    """Sign the person out everywhere except in this browser, after a proof of identity.

    Without the proof, a thief with a copy of the cookie could sign the person out and keep the session.
    """
    if request.method != "POST":
        return lost_form(request, "account")
    require_proof(request)
    if sessions.end_other_sessions(request, request.user.pk or 0):
        record("sessions.ended", may_wait=True)
    messages.info(request, _("You are signed out everywhere else."))
    return redirect("account")


def account_page(user: Any, *, session_key: str) -> AccountPage:
    """Return the second factors, sessions and memberships of ``user``; ``session_key`` is the current one."""
    Type = Authenticator.Type  # noqa: N806 - a class
    factors = list(user.authenticator_set.order_by("created_at"))
    app = next((factor for factor in factors if factor.type == Type.TOTP), None)
    codes = next((factor for factor in factors if factor.type == Type.RECOVERY_CODES), None)
    passkeys = tuple(factor for factor in factors if factor.type == Type.WEBAUTHN)
    codes_left = len(codes.wrap().get_unused_codes()) if codes else None  # wrap: allauth's way to open them
    return AccountPage(
        app=app,
        passkeys=passkeys,
        codes_left=codes_left,
        sessions=session_rows(user, session_key),
        checks=security_checks(user, has_factor=bool(app or passkeys), codes_left=codes_left),
        memberships=_memberships(user),
    )


def session_rows(user: Any, session_key: str) -> tuple[SessionRow, ...]:
    """Return the open sessions of ``user``: the current one first, then the latest."""
    rows = []
    for session in Session.objects.filter(user_id=user.pk, expire_date__gt=timezone.now()):
        signed_in = session.get_decoded().get(SIGNED_IN, {})
        rows.append(
            SessionRow(
                browser=signed_in.get("browser", ""),
                signed_in_at=parse_datetime(signed_in.get("at", "")),
                is_current=session.session_key == stored_key(session_key),
            )
        )
    epoch = timezone.make_aware(datetime(1970, 1, 1))  # noqa: DTZ001 - made aware here
    return tuple(sorted(rows, key=lambda row: (row.is_current, row.signed_in_at or epoch), reverse=True))


def security_checks(user: Any, *, has_factor: bool, codes_left: int | None) -> tuple[Check, ...]:
    """Return the security checklist of ``user``."""
    factor_check = (
        Check(is_done=True, text=_("Signing in takes more than your password."))
        if has_factor
        else Check(
            is_done=False,
            text=_("Set up an authenticator app or a passkey, so that a stolen password is not enough."),
            url="#app-title",
        )
    )
    return (factor_check, *_codes_check(has_factor, codes_left), _email_check(user))


def _codes_check(has_factor: bool, codes_left: int | None) -> tuple[Check, ...]:
    if not has_factor or codes_left is None:
        return ()
    if codes_left >= MIN_CODES:
        return (Check(is_done=True, text=_("You have recovery codes for a lost phone.")),)
    return (Check(is_done=False, text=_("Few recovery codes are left: make new ones."), url="#codes-title"),)


def _email_check(user: Any) -> Check:
    if user.email:
        return Check(is_done=True, text=_("We know your e-mail address, so you can reset your password."))
    return Check(
        is_done=False,
        text=_("We do not know your e-mail address, so you cannot reset your password: contact support."),
        url=settings.SUPPORT_URL,
    )


def _memberships(user: Any) -> tuple[Any, ...]:
    if not settings.ENABLE_PORTAL:
        return ()
    from portal.team.view_models import membership_rows

    return membership_rows(user)
