"""The page of rules about answers: owners change them, and managers read them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from audit.recording import record as audit
from foundation.texts.people import reference_of
from portal.answers import service
from portal.models import Account, Membership
from portal.pages.access import current_user, members_only
from portal.pages.error_pages import logged_error_page, render_with_error
from portal.rules.forms import RulesForm
from signed_api.answering import AnswerRulesRequest
from signed_api.errors import CallError

_TEMPLATE = "portal/rules/page.html"


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def rules(request: HttpRequest, account: int) -> HttpResponse:
    """Show the rules of an account to its owners and managers; the form of owners changes them."""
    members = Membership.objects.of_user(request.user)
    allowed = members.owners() if request.method == "POST" else members.managing()
    own = get_object_or_404(Account, memberships__in=allowed, pk=account)
    may_change = members.owners().filter(account=own).exists()
    form = RulesForm(request.POST) if request.method == "POST" else None
    try:
        if form is None:
            found = service.answer_rules_of(own, AnswerRulesRequest())
            form = RulesForm.showing(found, may_change=may_change)
        elif form.is_valid():
            service.answer_rules_of(own, form.to_request(reference_of(current_user(request).pk)))
            audit("answer_rules.chosen", own, after=form.cleaned_data)
            messages.success(request, _("The rules are saved."))
            return redirect("portal:rules", account=own.pk)
    except CallError as error:
        context = {"account": own, "form": form, "may_change": may_change}
        return render_with_error(request, _TEMPLATE, logged_error_page(error, own.ref), **context)
    return render(request, _TEMPLATE, {"account": own, "form": form, "may_change": may_change})
