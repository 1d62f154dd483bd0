"""Error pages for the gateway's errors: what happened, and what to do.

Pages never show the service's own texts. The reference for support is the id of the portal's request. The
service gets it with the call, so it finds the log lines of both.
"""

import logging
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from foundation.operations.request_ids import begin_request, current_request_id
from portal.gateway.errors import TooManyCalls
from portal.models import Account, Membership, Website
from portal.pages.urls import adding_url, renewal_url
from portal.texts import labels
from signed_api.errors import (
    CallError,
    InactiveEntitlement,
    InvalidRequest,
    RateLimited,
    RevokedLink,
    SlowRequest,
    TimedOut,
    Unavailable,
    UnknownFinding,
    UnknownLink,
    Unreachable,
)

logger = logging.getLogger(__name__)

DEFAULT_WAIT_SECONDS = 30  # if the service sends no Retry-After
BUSY_WAIT_SECONDS = 2  # most calls end within this time


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A link to a page where the person can solve the problem."""

    label: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorPage:
    """HTTP status, texts and links of an error page; ``reference`` is for support."""

    status: int
    title: str
    text: str
    advice: str
    reference: str
    actions: tuple[Action, ...] = ()
    can_retry: bool = False
    retry_after: int = 0


def error_page_for(error: CallError, *, linking_url: str = "") -> ErrorPage:
    """Return the error page for ``error``; ``linking_url`` is empty if the person may not link websites."""
    reference = new_reference()
    match error:
        case InactiveEntitlement():
            return _inactive_entitlement(error, reference)
        case RevokedLink():
            return _revoked_link(error, reference, linking_url)
        case UnknownLink():
            return _unknown_website(reference, linking_url)
        case UnknownFinding():
            return unknown_finding(reference)
        case InvalidRequest() if any(each.field == "source" for each in error.detail.errors):
            return ErrorPage(
                status=400,
                title=_("Unknown scanner"),
                text=_("The address has a filter by a scanner that this website does not have."),
                advice=_("Check the address, or open the website without the filter."),
                reference=reference,
            )
        case RateLimited():
            return _rate_limited(error, reference)
        case SlowRequest():
            return ErrorPage(
                status=503,
                title=_("This request takes too long"),
                text=_("We stopped it. Your filters are kept."),
                advice=_("Use more filters, search for more or longer words, or try again later."),
                can_retry=True,
                retry_after=error.retry_after,
                reference=reference,
            )
        case TooManyCalls():
            return _too_many_calls(reference)
        case TimedOut():
            return ErrorPage(
                status=504,
                title=_("The service is taking too long"),
                text=_("It did not answer in time. Your filters are kept."),
                advice=_("Wait a moment, then try again."),
                can_retry=True,
                reference=reference,
            )
        case Unreachable():
            # Unavailable, a subclass: the service itself reports an outage. Otherwise nobody answered.
            wait = (error.retry_after or DEFAULT_WAIT_SECONDS) if isinstance(error, Unavailable) else 0
            return ErrorPage(
                status=503 if wait else 502,
                retry_after=wait,
                title=_("The service cannot be reached"),
                text=_("We could not get the latest results. Your website is not affected by this."),
                advice=_("Wait a moment, then try again. Your filters are kept."),
                can_retry=True,
                reference=reference,
            )
        case _:
            return _unavailable(reference)


def website_error_page(
    error: CallError, website: Website, user: AbstractBaseUser | AnonymousUser
) -> ErrorPage:
    """Log the error, and return its page, with links for people who may link the website."""
    return logged_error_page(error, website.host, linking_url=_linking_url(user, website.account))


def logged_error_page(error: CallError, host: str, *, linking_url: str = "") -> ErrorPage:
    """Return the error page for ``error``, and log one line with its reference."""
    error_page = error_page_for(error, linking_url=linking_url)
    if not error.request_id:  # an error with the service's id is in the gateway's log
        logger.warning("%s: %s", host, type(error).__name__)
    return error_page


def render_with_error(
    request: HttpRequest, template: str, error_page: ErrorPage, **context: Any
) -> HttpResponse:
    """Return the page with the error in place of its content."""
    context = {"page": {"url": request.get_full_path()}, "error_page": error_page} | context
    response = render(request, template, context, status=error_page.status)
    if error_page.retry_after:
        response["Retry-After"] = str(error_page.retry_after)
    return response


def unknown_website(user: AbstractBaseUser | AnonymousUser) -> ErrorPage:
    """Return one page for both cases: the website is not linked, or belongs to other people."""
    return _unknown_website(new_reference(), _linking_url(user))


def _unknown_website(reference: str, linking_url: str) -> ErrorPage:
    return ErrorPage(
        status=404,
        title=_("This website is not in your organization"),
        text=_("We have no results to show for this address."),
        advice=_("Check the address. Results appear here once the website is verified."),
        reference=reference,
        actions=_actions((_("Add a website"), linking_url)),
    )


def unknown_finding(reference: str) -> ErrorPage:
    """Return one page for both cases: the finding does not exist, or belongs to another website."""
    return ErrorPage(
        status=404,
        title=_("Finding not found"),
        text=_("This website has no finding at this address."),
        advice=_("Check the address, or look for the finding in the list."),
        reference=reference,
    )


def new_reference() -> str:
    """Return the id of the current request, as the reference on the page and in the log."""
    return current_request_id() or begin_request().request_id


def _actions(*links: tuple[str, str]) -> tuple[Action, ...]:
    """Return the links that have a URL."""
    return tuple(Action(label=label, url=url) for label, url in links if url)


def _linking_url(user: AbstractBaseUser | AnonymousUser, account: Account | None = None) -> str:
    """Return the page that links websites to ``account``, or to any; empty if the person may not."""
    memberships = Membership.objects.of_user(user).managing()
    if account is None:
        return adding_url() if memberships.exists() else ""
    return adding_url(account.ref) if memberships.filter(account=account).exists() else ""


def _inactive_entitlement(error: InactiveEntitlement, reference: str) -> ErrorPage:
    if error.detail.reason == "websites_limit":
        return ErrorPage(
            status=403,
            title=_("This website is paused"),
            text=_("Your plan includes fewer websites than you have."),
            advice=_(
                "Nothing was deleted. Owners can choose on the page of the plan which websites stay, and a "
                "larger plan brings all back."
            ),
            reference=reference,
            actions=(Action(label=_("View plan"), url=reverse("portal:plan")),),
        )
    if error.detail.starts_on is not None:
        return ErrorPage(
            status=403,
            title=_("Your plan has not started yet"),
            text=_("Its first day: %(date)s.") % {"date": labels.day(error.detail.starts_on)},
            advice=_("The results of this website appear here on that day."),
            reference=reference,
            actions=(Action(label=_("View plan"), url=reverse("portal:plan")),),
        )
    facts = _("Your organization has no plan yet.")
    if error.detail.plan:
        plan, state = error.detail.plan.capitalize(), labels.label(labels.PLAN_STATES, error.detail.status)
        facts = _("Your plan: %(plan)s (%(state)s).") % {"plan": plan, "state": state}
    ends_on = error.detail.ends_on
    if ends_on is not None and ends_on < timezone.now().date():  # a plan ended early can have a later day
        facts += " " + _("Its last day: %(date)s.") % {"date": labels.day(ends_on)}
    advice = _("Renew the plan to see the results again. Scans and history are kept.")
    action = (_("Renew the plan"), renewal_url())
    if error.detail.status == "suspended":  # by staff: a payment does not end it
        advice = _("Contact us to see the results again. Scans and history are kept.")
        action = (_("Contact support"), settings.SUPPORT_URL)
    return ErrorPage(
        status=403,
        title=_("Your plan does not cover this dashboard at the moment"),
        text=facts,
        advice=advice,
        reference=reference,
        actions=_actions(action),
    )


def _revoked_link(error: RevokedLink, reference: str, linking_url: str) -> ErrorPage:
    support = (_("Contact support"), settings.SUPPORT_URL)
    claims_url = "" if settings.LINK_URL else linking_url  # only our own page for adding websites has claims
    if error.detail.reason == "ownership_lapsed":
        return ErrorPage(
            status=403,
            title=_("The proof of ownership is missing"),
            text=_("We could not find the token for 14 days, so this website was removed."),
            advice=_(
                "Publish it again, or repair what does not answer, and add the website again: you get it "
                "back unless another organization owns it by now."
            ),
            reference=reference,
            actions=_actions((_("Add a website"), claims_url), support),
        )
    advice = labels.NOT_LINKED.get(error.detail.reason, _("Contact support with the reference below."))
    actions = _actions(support)
    if error.detail.reason == "proof_awaited":
        actions = _actions((_("Check the proof"), claims_url), support)
    elif error.detail.reason in ("claim_ended", "taken_over"):
        actions = _actions((_("Add a website"), claims_url), support)
    text = _("Our team removed this website from your organization.")
    if error.detail.revoked_at is not None:
        text = _("Our team removed this website from your organization on %(date)s.") % {
            "date": labels.day(error.detail.revoked_at)
        }
    return ErrorPage(
        status=403,
        title=_("This website was removed from your organization"),
        text=text,
        advice=str(advice),
        reference=reference,
        actions=actions,
    )


def _rate_limited(error: RateLimited, reference: str) -> ErrorPage:
    wait = error.retry_after
    return ErrorPage(
        status=503,
        title=_("Too many requests at once"),
        text=_("Your organization has asked for many results in a short time."),
        advice=(
            ngettext("Try again in %(count)s second.", "Try again in %(count)s seconds.", wait)
            % {"count": wait}
            if wait
            else _("Wait a moment, then try again.")
        ),
        can_retry=True,
        retry_after=wait or DEFAULT_WAIT_SECONDS,
        reference=reference,
    )


def _too_many_calls(reference: str) -> ErrorPage:
    return ErrorPage(
        status=503,
        title=_("The portal is busy"),
        text=_("Many people are using it at the same time. Your filters are kept."),
        advice=_("Wait a moment, then try again."),
        can_retry=True,
        retry_after=BUSY_WAIT_SECONDS,
        reference=reference,
    )


def _unavailable(reference: str) -> ErrorPage:
    """Return the page for a fault that only an operator can fix; the log has the details."""
    return ErrorPage(
        status=502,
        title=_("Temporarily unavailable"),
        text=_("We cannot show the results right now. The problem is on our side, not on your website."),
        advice=_("Try again in a few minutes. If it still fails, contact support with the reference below."),
        can_retry=True,
        reference=reference,
    )
