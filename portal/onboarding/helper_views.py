"""The helper's link: members create and end it; a helper without an account sees the claim and checks it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.decorators import rate_limit
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from portal.answers import service
from portal.models import Account, HelperLink
from portal.onboarding import actions
from portal.onboarding.view_models import claim_page
from portal.onboarding.views import failed_check, managing, own_account
from portal.pages.access import for_strangers, members_only
from signed_api.claims import CLAIM_CHECK, ClaimCheckRequest, WebsiteClaim
from signed_api.errors import CallError, ClaimEnded, UnknownClaim

RETRY_SECONDS = 60
View = Callable[..., HttpResponse]
_rate_limited: Callable[[View], View] = rate_limit(action="sample", limit_get=True)


def _for_helpers(view: View) -> Any:
    """Return the view with a rate limit and the headers for strangers; its form must send its origin."""

    @wraps(view)
    def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = _rate_limited(view)(request, *args, **kwargs)
        response["Referrer-Policy"] = "same-origin"
        return response

    return for_strangers(respond)


@require_POST
@members_only
def create_helper_link(request: HttpRequest, account: int, claim_id: int) -> HttpResponse:
    """Create the link of a claim, or keep the existing one, as an owner or a manager."""
    own = own_account(managing(request), account)
    try:
        claim = _claim(own, str(claim_id))
    except CallError as error:
        messages.warning(request, failed_check(error, own))
    else:
        actions.create_helper_link(own, claim)
    return redirect("portal:claim", account=own.pk, claim_id=claim_id)


@require_POST
@members_only
def end_helper_link(request: HttpRequest, account: int, claim_id: int) -> HttpResponse:
    """End the link of a claim, as an owner or a manager."""
    own = own_account(managing(request), account)
    actions.end_helper_link(own, str(claim_id))
    messages.info(request, _("The link no longer works."))
    return redirect("portal:claim", account=own.pk, claim_id=claim_id)


@require_safe
@_for_helpers
def help_prove(request: HttpRequest, token: str) -> HttpResponse:
    """Show where to publish the token, and what the last check found."""
    link = _live_link(token)
    if link is None:
        return _ended(request)
    try:
        claim = _claim(link.account, link.claim_id)
    except Http404:
        return _ended(request)
    except CallError:  # the gateway has logged it
        response = render(request, "portal/sharing/unavailable.html", status=503)
        response["Retry-After"] = str(RETRY_SECONDS)
        return response
    page = claim_page(link.account, claim, site_url="", is_owner=False)
    return render(request, "portal/onboarding/helper.html", {"page": page, "link": link})


@require_POST
@_for_helpers
def check_for_helper(request: HttpRequest, token: str) -> HttpResponse:
    """Look for the token now."""
    link = _live_link(token)
    if link is None:
        return _ended(request)
    try:
        claim = service.claim(link.account, CLAIM_CHECK, ClaimCheckRequest(claim_id=link.claim_id))
    except (UnknownClaim, ClaimEnded):
        return _ended(request)
    except CallError as error:
        messages.warning(request, failed_check(error, link.account))
    else:
        actions.record_check(link.account, claim)
        if claim.state == "pending":
            messages.info(request, _("We checked just now and did not find the token."))
    return redirect("portal:help_prove", token=token)


def _live_link(token: str) -> HelperLink | None:
    live = HelperLink.objects.with_token(token).live(at=timezone.now())
    return live.select_related("account").first()


def _claim(account: Account, claim_id: str) -> WebsiteClaim:
    """Return an open claim of the account; raises Http404 and CallError."""
    found = service.get_claim(account, claim_id)
    if found is None or found.state == "ended":
        raise Http404
    return found


def _ended(request: HttpRequest) -> HttpResponse:
    return render(request, "portal/sharing/ended.html", status=404)
