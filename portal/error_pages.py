"""The one table from a gateway's error to what the customer sees: what happened, and what to do.

Nothing that the service wrote reaches the page; its request id does, as a reference for support.
"""

import logging
import uuid
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal import labels
from portal.gateway import (
    GatewayError,
    InactiveEntitlement,
    RateLimited,
    RevokedLink,
    SlowQuestion,
    TimedOut,
    TooManyCalls,
    UnknownFinding,
    UnknownLink,
    Unreachable,
)

logger = logging.getLogger(__name__)

USUAL_WAIT_SECONDS = 30  # where the service sends no Retry-After
BUSY_SECONDS = 2  # most calls are over by then


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A link that helps, to an address in the settings.

    ``links_website``: only for those who may link websites.
    """

    label: str
    url: str
    links_website: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One screen: the browser's status, the words, and where to go; ``reference`` is for support."""

    status: int
    title: str
    text: str
    advice: str
    reference: str
    actions: tuple[Action, ...] = ()
    can_retry: bool = False
    retry_after: int = 0


def problem_for(error: GatewayError) -> Problem:
    """The screen for ``error``."""
    reference = error.request_id or new_reference()
    match error:
        case InactiveEntitlement():
            return _inactive_entitlement(error, reference)
        case RevokedLink():
            return _revoked_link(error, reference)
        case UnknownLink():
            return unknown_website(reference)
        case UnknownFinding():
            return unknown_finding(reference)
        case RateLimited():
            return _rate_limited(error, reference)
        case SlowQuestion():
            return Problem(
                status=503,
                title=_("This takes too long to answer"),
                text=_("The security service stopped, so that nobody else waits. Your filters are kept."),
                advice=_("Narrow the filters, search for more or longer words, or try again later."),
                can_retry=True,
                retry_after=error.retry_after,
                reference=reference,
            )
        case TooManyCalls():
            return _too_many_calls(reference)
        case TimedOut():
            return Problem(
                status=504,
                title=_("The answer is taking too long"),
                text=_("The security service did not answer in time. Your filters are kept."),
                advice=_("Wait a moment, then try again."),
                can_retry=True,
                reference=reference,
            )
        case Unreachable():
            return Problem(
                status=502,
                title=_("The security service cannot be reached"),
                text=_("We could not get the latest results. Your website is not affected by this."),
                advice=_("Wait a moment, then try again. Your filters are kept."),
                can_retry=True,
                reference=reference,
            )
        case _:
            return _unavailable(reference)


def logged_problem(error: GatewayError, host: str) -> Problem:
    """The screen for ``error``, with a line in the log that its reference leads to."""
    problem = problem_for(error)
    if not error.request_id:  # the gateway's line names the service's own id; this one is ours
        logger.warning("%s: %s, reference %s", host, type(error).__name__, problem.reference)
    return problem


def without_linking(problem: Problem) -> Problem:
    """Return the same screen for a person who may not link a website."""
    actions = tuple(action for action in problem.actions if not action.links_website)
    return replace(problem, actions=actions)


def unknown_website(reference: str) -> Problem:
    """A website that is not linked, or that is not this person's: the same words for both."""
    return Problem(
        status=404,
        title=_("This website is not linked to your account"),
        text=_("We have no results to show for this address."),
        advice=_("Check the address. Results appear here once the website is linked."),
        reference=reference,
        actions=_linking(_("Link a website")),
    )


def unknown_finding(reference: str) -> Problem:
    """A finding that does not exist, or that is another website's: the same words for both."""
    return Problem(
        status=404,
        title=_("There is no such finding"),
        text=_("This website has no finding at this address."),
        advice=_("Check the address, or look for the finding in the list."),
        reference=reference,
    )


def new_reference() -> str:
    """An id that names one occurrence, on the page and in the log."""
    return uuid.uuid4().hex[:12]


def _actions(*ways: tuple[str, str]) -> tuple[Action, ...]:
    """Those whose address this deployment has set."""
    return tuple(Action(label=label, url=url) for label, url in ways if url)


def _linking(label: str) -> tuple[Action, ...]:
    """Return the link for linking a website, if LINK_URL is set."""
    return (Action(label=label, url=settings.LINK_URL, links_website=True),) if settings.LINK_URL else ()


def _inactive_entitlement(error: InactiveEntitlement, reference: str) -> Problem:
    plan, state = error.plan.capitalize(), labels.word(labels.PLAN_STATES, error.entitlement_status)
    facts = _("Your plan: %(plan)s (%(state)s).") % {"plan": plan, "state": state}
    if error.entitlement_status == "past_due":
        facts += " " + _("The days of grace are over.")
    elif error.ends_on is not None:
        facts += " " + _("Its last day: %(date)s.") % {"date": labels.day(error.ends_on)}
    return Problem(
        status=403,
        title=_("Your plan does not cover this dashboard at the moment"),
        text=facts,
        advice=_("Renew the plan to see the results again. Checks and history are kept."),
        reference=reference,
        actions=_actions((_("Renew the plan"), settings.RENEW_URL)),
    )


def _revoked_link(error: RevokedLink, reference: str) -> Problem:
    text = _("The link between this website and your account has been revoked.")
    if error.revoked_at is not None:
        text = _("The link between this website and your account was revoked on %(date)s.") % {
            "date": labels.day(error.revoked_at)
        }
    return Problem(
        status=403,
        title=_("The link to this website was revoked"),
        text=text,
        advice=_("Only support can restore it. Give them the reference below."),
        reference=reference,
        actions=(*_actions((_("Contact support"), settings.SUPPORT_URL)), *_linking(_("Link again"))),
    )


def _rate_limited(error: RateLimited, reference: str) -> Problem:
    wait = error.retry_after
    return Problem(
        status=503,
        title=_("Too many requests at once"),
        text=_("Your account has asked for many results in a short time."),
        advice=(
            ngettext("Try again in %(count)s second.", "Try again in %(count)s seconds.", wait)
            % {"count": wait}
            if wait
            else _("Wait a moment, then try again.")
        ),
        can_retry=True,
        retry_after=wait or USUAL_WAIT_SECONDS,
        reference=reference,
    )


def _too_many_calls(reference: str) -> Problem:
    return Problem(
        status=503,
        title=_("Many people are asking right now"),
        text=_(
            "We did not ask the security service, so that the page answers at once. Your filters are kept."
        ),
        advice=_("Wait a moment, then try again."),
        can_retry=True,
        retry_after=BUSY_SECONDS,
        reference=reference,
    )


def _unavailable(reference: str) -> Problem:
    """What only the operator can mend; the details are in the log."""
    return Problem(
        status=502,
        title=_("Temporarily unavailable"),
        text=_("We cannot show the results right now. The fault is on our side, not on your website."),
        advice=_("Try again in a few minutes. If it stays, tell support the reference below."),
        can_retry=True,
        reference=reference,
    )
