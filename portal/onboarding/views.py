"""The pages for adding a website: the form, the claim with its proof, the check and the withdrawal."""

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from audit.recording import record as audit
from foundation.addresses.hosts import readable_host
from foundation.pages.proofs import lost_form, require_proof
from foundation.texts.stored_texts import translate
from portal.answers import service
from portal.gateway.errors import TooManyCalls
from portal.models import Account, Membership, Website
from portal.onboarding import actions, emails
from portal.onboarding.forms import AddWebsiteForm, WithdrawForm
from portal.onboarding.view_models import claim_page, claim_rows, claim_url, helper_offer
from portal.pages.access import members_only
from portal.pages.error_pages import logged_error_page, render_with_error
from portal.pages.htmx import HtmxHttpRequest
from portal.pages.urls import portal_origin, site_address
from portal.texts.labels import NOT_LINKED
from signed_api.claims import (
    CLAIM,
    CLAIM_CHECK,
    CLAIM_WITHDRAW,
    ClaimCheckRequest,
    ClaimRequest,
    ClaimWithdrawRequest,
    WebsiteClaim,
)
from signed_api.errors import CallError, CheckTooSoon, ClaimEnded, ClaimRefused, TimedOut, UnknownClaim
from signed_api.scans import Scan, ScansRequest

UNUSABLE = ("support", "renewal", "start")  # results of _lack for which the service refuses checks
BUSY_WAIT_SECONDS = 5  # estimate until another person's check is over
MAX_CLAIM_ID = 10**18  # ids have at most 18 digits


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def add_website(request: HtmxHttpRequest) -> HttpResponse:
    """Show the form and the claims of an account; submitting the form claims a website."""
    accounts = list(Account.objects.filter(memberships__in=managing(request)))
    if not accounts:
        raise Http404
    if request.method == "POST":
        return _add(request, accounts)
    wanted = request.GET.get("account", accounts[0].ref)
    account = next((each for each in accounts if each.ref == wanted), None)
    if account is None:
        raise Http404
    initial = {"account": account.ref, "host": request.GET.get("host", "")}
    context: dict[str, Any] = {"form": AddWebsiteForm(accounts=accounts, initial=initial)}
    context |= {"account": account, "accounts": accounts}
    try:
        claims = service.get_claims(account)
    except CallError as error:
        return render_with_error(
            request, "portal/onboarding/add.html", logged_error_page(error, account.ref), **context
        )
    _settle_all(request, account, claims)
    context |= {"rows": claim_rows(account, claims), "lack": _lack(account)}
    return render(request, "portal/onboarding/add.html", context)


def _add(request: HtmxHttpRequest, accounts: Sequence[Account]) -> HttpResponse:
    form = AddWebsiteForm(request.POST, accounts=accounts)
    context = {"form": form}
    if not form.is_valid():
        return render(request, "portal/onboarding/add.html", context)
    account = form.chosen_account
    try:
        claim = service.claim(account, CLAIM, ClaimRequest(host=form.cleaned_data["host"]))
    except ClaimRefused as refusal:
        reasons = [translate(reason) for reason in refusal.detail.reasons]
        form.add_error("host", reasons or [_("This website cannot be added.")])
        return render(request, "portal/onboarding/add.html", context)
    except CallError as error:
        return render_with_error(
            request, "portal/onboarding/add.html", logged_error_page(error, account.ref), **context
        )
    audit("website.claimed", account, host=claim.host)
    return _redirect_after_change(request, account, claim)


@require_safe
@members_only
def claim(request: HtmxHttpRequest, account: int, claim_id: int) -> HttpResponse:
    """Show a claim: its state, the places for the token, and the result of the last check."""
    own = own_account(managing(request), account)
    try:
        found = service.get_claim(own, _id_as_text(claim_id))
    except CallError as error:
        return render_with_error(
            request, "portal/onboarding/claim.html", logged_error_page(error, own.ref), account=own
        )
    if found is None:
        raise Http404
    with actions.without_person():
        is_new = actions.settle(own, found) is not None
    polled_state = request.GET.get("state") if request.htmx else None  # the state that the page shows
    if is_new or (polled_state and found.state in actions.LINKED):
        return _to_results(request, own, found)
    if polled_state:
        return HttpResponse(status=204) if polled_state == found.state else HttpResponseClientRefresh()
    site_url = _site_url(request, own, found)
    lack = _lack(own) if found.link_id is None and found.state != "ended" else ""
    is_owner = Membership.objects.of_user(request.user).owners().filter(account=own).exists()
    page = claim_page(own, found, site_url=site_url, is_owner=is_owner, has_plan=lack not in UNUSABLE)
    link = actions.helper_link(own, found.claim_id)
    context = {"page": page, "account": own, "form": WithdrawForm()}
    context |= {"helper": helper_offer(own, found, link), "helper_origin": portal_origin(request)}
    context |= {"lack": lack, "is_proven": found.state in (*actions.LINKED, "contested")}
    return render(request, "portal/onboarding/claim.html", context)


@require_POST
@members_only
def check_claim(request: HtmxHttpRequest, account: int, claim_id: int) -> HttpResponse:
    """Look for the token now; this can take some seconds."""
    own = own_account(managing(request), account)
    page = reverse("portal:claim", args=[own.pk, claim_id])
    try:
        claim = service.claim(own, CLAIM_CHECK, ClaimCheckRequest(claim_id=_id_as_text(claim_id)))
    except UnknownClaim as error:
        raise Http404 from error
    except ClaimEnded:
        return _ended(request, own)
    except CallError as error:
        with suppress(CallError):  # another check may have found the token
            found = service.get_claim(own, str(claim_id))
            if found and actions.settle(own, found):
                return _to_results(request, own, found)
        messages.warning(request, failed_check(error, own))
        return redirect(page)
    audit("website.claim_checked", own, host=claim.host)
    if claim.state == "pending":
        messages.info(request, _("We checked just now and did not find the token."))
    return _redirect_after_change(request, own, claim)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def withdraw_claim(request: HtmxHttpRequest, account: int, claim_id: int) -> HttpResponse:
    """End a claim and its link, as an owner; the form is on the page of the claim."""
    own = own_account(managing(request).owners(), account)
    if request.method != "POST":
        return lost_form(request, "portal:claim", account=own.pk, claim_id=claim_id)
    form = WithdrawForm(request.POST)
    if not form.is_valid():
        messages.warning(request, _("Say why, in at most 500 characters."))
        return redirect("portal:claim", account=own.pk, claim_id=claim_id)
    require_proof(request)
    reason = form.cleaned_data["reason"]
    try:
        claim = service.claim(
            own, CLAIM_WITHDRAW, ClaimWithdrawRequest(claim_id=_id_as_text(claim_id), reason=reason)
        )
    except UnknownClaim as error:
        raise Http404 from error
    except ClaimEnded:
        return _ended(request, own)
    except CallError as error:
        context = {"account": own, "page": {"url": reverse("portal:claim", args=[own.pk, claim_id])}}
        return render_with_error(
            request, "portal/onboarding/claim.html", logged_error_page(error, own.ref), **context
        )
    is_removed = actions.remove_unlinked(own, claim, reason=reason)
    if is_removed:
        emails.send_given_up(own, claim)
    messages.info(
        request, _("Your organization no longer has %(host)s.") % {"host": readable_host(claim.host)}
    )
    return redirect("portal:sites") if is_removed else _to_claims(own)


def managing(request: HttpRequest) -> Any:
    """Return the person's memberships as owner or manager."""
    return Membership.objects.of_user(request.user).managing()


def own_account(memberships: Any, pk: int) -> Account:
    """Return the account if it has one of these memberships; raises Http404."""
    return get_object_or_404(Account, memberships__in=memberships, pk=pk)


def _id_as_text(claim_id: int) -> str:
    """Return the id as the service writes it; raises Http404 for an impossible number."""
    if not 0 < claim_id < MAX_CLAIM_ID:
        raise Http404
    return str(claim_id)


def _settle_all(request: HttpRequest, account: Account, claims: Sequence[WebsiteClaim]) -> None:
    """Store the websites that were verified meanwhile, with a message."""
    with actions.without_person():
        count = actions.settle_all(account, claims)
    if count:
        text = ngettext(
            "%(count)s verified website is new in your list.",
            "%(count)s verified websites are new in your list.",
            count,
        )
        messages.success(request, text % {"count": count})


def _redirect_after_change(request: HtmxHttpRequest, account: Account, claim: WebsiteClaim) -> HttpResponse:
    """Redirect to the results of a website that was just verified, else to the page of the claim."""
    if actions.settle(account, claim):
        return _to_results(request, account, claim)
    return redirect(claim_url(account, claim))


def _to_results(request: HtmxHttpRequest, account: Account, claim: WebsiteClaim) -> HttpResponse:
    """Redirect to the waiting or running scan, else to the dashboard; htmx loads the whole page."""
    url = _site_url(request, account, claim)
    website = get_object_or_404(Website, account=account, host=claim.host)
    scan = _newest_scan(website)
    if scan and scan.ended_at is None:
        url = site_address(website, names_account="?" in url).of_scans()  # if the dashboard's URL does
    text = _("%(host)s is yours now.") % {"host": readable_host(claim.host)}
    if scan is None:
        text += " " + _("Results appear here after the first scan.")
    messages.success(request, text)
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


def _lack(account: Account) -> str:
    """Return why the plan allows no further website: "payment", "room" or one of UNUSABLE; else empty."""
    try:
        plan = service.get_entitlement(account)
    except CallError:
        return ""
    entitlement = plan.entitlement
    if entitlement and not entitlement.may_grow:
        return {"past_due": "payment", "suspended": "support"}.get(entitlement.status, "renewal")
    if entitlement and entitlement.starts_on and entitlement.starts_on > timezone.now().date():
        return "start"
    is_full = any(
        use.name == "websites" and use.limit is not None and (use.used or 0) >= use.limit
        for use in plan.limits
    )
    return "room" if is_full else ""


def _newest_scan(website: Website) -> Scan | None:
    """Return the newest scan, if there is one and the service answers."""
    with suppress(CallError):
        return next(iter(service.get_scans(website, ScansRequest(page_size=1)).jobs), None)
    return None


def _site_url(request: HttpRequest, account: Account, claim: WebsiteClaim) -> str:
    """Return the URL of the dashboard of a linked claim, else an empty text.

    Raises Http404 for a website that was removed since the claim was read.
    """
    if claim.state not in actions.LINKED or claim.link_id is None:
        return ""
    websites = list(Website.objects.visible_to(request.user).with_host(claim.host))
    own = next((website for website in websites if website.account_id == account.pk), None)
    if own is None:
        raise Http404
    return str(site_address(own, names_account=len(websites) > 1))


def _ended(request: HttpRequest, account: Account) -> HttpResponse:
    messages.warning(request, str(NOT_LINKED["claim_ended"]))
    return _to_claims(account)


def _to_claims(account: Account) -> HttpResponse:
    return redirect(reverse("portal:add_website", query={"account": account.ref}))


def failed_check(error: CallError, account: Account) -> str:
    """Return why a check did not happen or has no result, and when to try again."""
    if isinstance(error, CheckTooSoon | TooManyCalls):
        seconds = (error.retry_after if isinstance(error, CheckTooSoon) else 0) or BUSY_WAIT_SECONDS
        minutes = math.ceil(seconds / 60)
        if minutes > 1:
            text = ngettext(
                "Many checks were made in this hour. Check again in %(count)s minute.",
                "Many checks were made in this hour. Check again in %(count)s minutes.",
                minutes,
            )
            return text % {"count": minutes}
        text = ngettext(
            "A check was made a moment ago. Check again in %(count)s second.",
            "A check was made a moment ago. Check again in %(count)s seconds.",
            seconds,
        )
        return text % {"count": seconds}
    if isinstance(error, TimedOut):
        return _("The check is taking longer than usual. Open this page again in a minute.")
    error_page = logged_error_page(error, account.ref)
    return f"{error_page.title}. {error_page.advice}"
