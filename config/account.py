"""The page of one's own account: how the person signs in, and which accounts they are a member of."""

from dataclasses import dataclass
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountPage:
    """The contents of the page."""

    app: Authenticator | None  # the authenticator app
    passkeys: tuple[Authenticator, ...]
    codes_left: int | None  # None without recovery codes
    memberships: tuple[Any, ...]


@require_safe
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show the page of the person who is signed in."""
    return render(request, "account/index.html", {"page": account_page(request.user)})


def account_page(user: Any) -> AccountPage:
    """Return the second factors and memberships of ``user``."""
    Type = Authenticator.Type  # noqa: N806 - a class
    factors = list(user.authenticator_set.order_by("created_at"))
    app = next((factor for factor in factors if factor.type == Type.TOTP), None)
    codes = next((factor for factor in factors if factor.type == Type.RECOVERY_CODES), None)
    return AccountPage(
        app=app,
        passkeys=tuple(factor for factor in factors if factor.type == Type.WEBAUTHN),
        codes_left=len(codes.wrap().get_unused_codes()) if codes else None,
        memberships=_memberships(user),
    )


def _memberships(user: Any) -> tuple[Any, ...]:
    if not settings.ENABLE_PORTAL:
        return ()
    from portal.team.view_models import membership_rows

    return membership_rows(user)
