"""The page of one's own account: how the person signs in, and which accounts they are a member of."""

from collections import defaultdict
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show the second factors and memberships of the person who is signed in."""
    user: Any = request.user
    factors: dict[str, list[Authenticator]] = defaultdict(list)
    for factor in user.authenticator_set.order_by("created_at"):
        factors[factor.type].append(factor)
    codes = next(iter(factors[Authenticator.Type.RECOVERY_CODES]), None)
    page = {
        "app": next(iter(factors[Authenticator.Type.TOTP]), None),
        "passkeys": factors[Authenticator.Type.WEBAUTHN],
        "codes_left": len(codes.wrap().get_unused_codes()) if codes else None,
        "memberships": _memberships(user),
    }
    return render(request, "account/index.html", {"page": page})


def _memberships(user: Any) -> tuple[Any, ...]:
    if not settings.ENABLE_PORTAL:
        return ()
    from portal.team.view_models import membership_rows

    return membership_rows(user)
