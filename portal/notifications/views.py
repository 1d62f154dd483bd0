"""Where members choose what they hear by e-mail, and where a link in each e-mail ends them."""

from dataclasses import dataclass, replace

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.core.signing import BadSignature
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal import labels, service
from portal.access import members_only
from portal.doors import website_at
from portal.error_pages import logged_problem
from portal.forms import Filters
from portal.gateway import GatewayError, Rejected
from portal.htmx import HtmxHttpRequest, render_site
from portal.models import Membership
from portal.models.notifications import Subscription
from portal.notifications.emails import stopped_by
from portal.notifications.forms import SubscriptionForm
from portal.notifications.view_models import since_page
from portal.team.emails import can_be_sent
from portal.view_models import site_page, unknown_site
from portal.view_models.overview import RECENT_DAYS
from portal.view_models.sites import site_address


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One account's e-mails."""

    pk: int
    account: str
    form: SubscriptionForm


@require_safe
@members_only
def news(request: HttpRequest) -> HttpResponse:
    """The e-mails of each account that the person is a member of."""
    places = Membership.objects.of(request.user).select_related("account", "subscription")
    choices = [
        Choice(
            pk=place.pk,
            account=str(place.account),
            form=SubscriptionForm(instance=Subscription.of(place), auto_id=f"news-{place.pk}-%s"),
        )
        for place in places
    ]
    return render(
        request, "portal/notifications/settings.html", {"choices": choices, "can_be_sent": can_be_sent()}
    )


@require_POST
@members_only
def choose(request: HttpRequest, membership: int) -> HttpResponse:
    """Keep what the person chose, and the language in which they did."""
    place = get_object_or_404(Membership.objects.of(request.user), pk=membership)
    subscription = Subscription.of(place)
    subscription.language = get_language() or subscription.language
    form = SubscriptionForm(request.POST, instance=subscription)
    if not form.is_valid():
        raise BadRequest
    form.save()
    messages.info(request, _("Your choice for %(account)s is saved.") % {"account": place.account})
    return redirect("portal:news")


@require_safe
@members_only
def since(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """The page of news: changes since an e-mail that are still open; without an e-mail, of the last days."""
    website, doors = website_at(request, host)
    if website is None:
        return render_site(request, unknown_site(host, path=request.path))
    since, floor = request.GET.get("since", ""), request.GET.get("floor", "")
    least = floor if floor in labels.SEVERITIES else ""
    try:
        if since:
            changes = service.ask_what_changed(website, since=since, min_severity=least)
        else:
            changes = service.ask_what_is_new(website, days=RECENT_DAYS, min_severity=least)
    except Rejected as error:  # nobody was ever given such a cursor
        raise Http404 from error
    except GatewayError as error:
        page = site_page(website, doors, Filters())
        return render_site(request, replace(page, problem=logged_problem(error, host)))
    page_of_news = since_page(changes, site_address(website, is_shared=len(doors) > 1))
    return render(request, "portal/notifications/new_findings.html", {"page": page_of_news})


@csrf_exempt  # mail programs post here for their owners; the token proves more than a cookie would
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """End the e-mails of one membership, for whoever holds one of them; looking changes nothing."""
    try:
        place = Membership.objects.select_related("account").filter(pk=stopped_by(token)).first()
    except BadSignature as error:
        raise Http404 from error
    if request.method == "POST" and place is not None:
        subscription = Subscription.of(place)
        subscription.rhythm = Subscription.Rhythm.NEVER
        subscription.save()
    is_stopped = place is None or Subscription.of(place).rhythm == Subscription.Rhythm.NEVER
    return render(
        request, "portal/notifications/unsubscribe.html", {"place": place, "is_stopped": is_stopped}
    )
