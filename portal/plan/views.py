"""The pages of the plan, for owners and managers; only owners choose websites."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from audit.recording import record as audit
from portal.answers import service
from portal.models import Account, Membership
from portal.pages.access import members_only
from portal.pages.error_pages import logged_error_page
from portal.pages.urls import payment_url
from portal.plan.forms import WebsitesForm
from portal.plan.view_models import PlanSection, plan_section
from portal.texts import labels
from signed_api.billing import WebsitesRequest
from signed_api.errors import CallError


@require_safe
@members_only
def plan(request: HttpRequest) -> HttpResponse:
    """Show the plan of each account in which the person is an owner or a manager."""
    members = Membership.objects.of_user(request.user)
    accounts = list(Account.objects.filter(pk__in=members.managing().values("account")))
    owned = set(members.owners().values_list("account", flat=True))
    sections = [_section(account) | {"is_owner": account.pk in owned} for account in accounts]
    context = {"sections": sections, "support_url": settings.SUPPORT_URL}
    return render(request, "portal/plan/index.html", context)


def _section(account: Account) -> dict[str, object]:
    """Return the context of an account's plan, or of the error page if the service fails."""
    section: dict[str, object] = {"account": account}
    now = timezone.now()
    try:
        answer = service.get_entitlement(account)
    except CallError as error:
        return section | {"error_page": logged_error_page(error, account.ref)}
    shown: PlanSection = plan_section(answer, members=account.seats_taken(now), now=now)
    return section | {"plan": shown, "renew_url": payment_url(answer.billing_ref)}


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def choose_websites(request: HttpRequest, account: int) -> HttpResponse:
    """Let an owner choose the websites to keep, while the plan includes fewer than the account has."""
    owned = Membership.objects.of_user(request.user).owners()
    own = get_object_or_404(Account, memberships__in=owned, pk=account)
    try:
        found = service.websites_of(own, WebsitesRequest())
        form = WebsitesForm(request.POST if request.method == "POST" else None, found=found)
        if request.method == "POST" and form.is_valid():
            chosen = ",".join(form.cleaned_data["stay"])
            service.websites_of(own, WebsitesRequest(stay=chosen))
            audit("websites.chosen", own, after={"websites": chosen.replace(",", ", ")})
            messages.success(request, _("Saved. You can change it at any time."))
            return redirect("portal:plan")
    except CallError as error:
        error_page = logged_error_page(error, own.ref)
        page = {"url": reverse("portal:choose_websites", args=[own.pk])}
        context = {"account": own, "error_page": error_page, "page": page}
        return render(request, "portal/plan/websites.html", context, status=error_page.status)
    context = {
        "account": own,
        "form": form,
        "found": found,
        "is_over": len(found.websites) > (found.limit or 0),
        "day": found.pauses_at and labels.day(found.pauses_at.date()),
        "is_past": found.pauses_at is not None and found.pauses_at <= timezone.now(),
    }
    return render(request, "portal/plan/websites.html", context)
