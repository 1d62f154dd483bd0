"""Pages about members: everything that changes something is a POST, and tells what it did."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import get_user_model, login
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.access import members_only
from portal.links import origin
from portal.models import Account
from portal.models.members import Invitation, Membership
from portal.team import actions, emails
from portal.team.forms import InvitationForm, JoinForm, RoleForm
from portal.team.view_models import account_sections


@require_safe
@members_only
def members(request: HttpRequest) -> HttpResponse:
    """Who else sees the websites of the person's accounts."""
    return _render_members(request)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def invite(request: HttpRequest, account: int) -> HttpResponse:
    """Send a link, or show it once where no mail can be sent; the form itself is on the members' page."""
    if request.method != "POST":
        return redirect("portal:members")
    places = Membership.objects.of(request.user).owners()
    found = get_object_or_404(Account, memberships__in=places, pk=account)
    person, form = _person(request), InvitationForm(request.POST, account=found)
    if not form.is_valid():
        return _render_members(request, form)
    by_mail = emails.can_be_sent()
    invitation = actions.invite(found, **form.cleaned_data, by=person, was_mailed=by_mail)
    link = origin(request) + reverse("portal:invitation", args=[invitation.token])
    if not by_mail:
        return render(request, "portal/team/invitation_link.html", {"invitation": invitation, "link": link})
    try:
        emails.send_invitation(invitation, link, by=person.get_username())
    except OSError:
        actions.withdraw(invitation, by=person)
        form.add_error(None, _("The mail server did not take the letter. Try again later."))
        return _render_members(request, form)
    return _told(request, _("%(email)s is invited.") % {"email": invitation.email})


@require_POST
@members_only
def withdraw(request: HttpRequest, invitation: UUID) -> HttpResponse:
    """The link stops working."""
    decided = Membership.objects.of(request.user).owners().values("account")
    found = get_object_or_404(Invitation, pk=invitation, account__in=decided)
    try:
        actions.withdraw(found, by=_person(request))
    except actions.NoLongerOpen:
        return _told(request, _("It was too late: the invitation is no longer open."))
    return _told(request, _("The invitation of %(email)s is withdrawn.") % {"email": found.email})


@require_POST
@members_only
def change_role(request: HttpRequest, membership: int) -> HttpResponse:
    """An owner gives a member another role."""
    found = get_object_or_404(Membership.objects.decided_by(request.user), pk=membership)
    form = RoleForm(request.POST)
    if not form.is_valid():
        raise BadRequest
    try:
        actions.change_role(found, form.cleaned_data["role"], by=_person(request))
    except actions.LastOwner:
        return _told(request, _("An account needs an owner: make somebody else one first."))
    except Membership.DoesNotExist as error:
        raise Http404 from error
    return _told(request, _("The role of %(name)s is changed.") % {"name": found.user.get_username()})


@require_POST
@members_only
def remove(request: HttpRequest, membership: int) -> HttpResponse:
    """An owner removes a member."""
    found = get_object_or_404(Membership.objects.decided_by(request.user), pk=membership)
    return _end(request, found, _("%(name)s is no longer a member of %(account)s."), "portal:members")


@require_POST
@members_only
def leave(request: HttpRequest, membership: int) -> HttpResponse:
    """A member goes."""
    found = get_object_or_404(Membership.objects.of(request.user), pk=membership)
    return _end(request, found, _("You are no longer a member of %(account)s."), "account")


@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Where a link leads: join as who is signed in, or as somebody new."""
    try:
        found = actions.open_invitation(token)
        return _join(request, found) if request.user.is_authenticated else _join_anew(request, found)
    except actions.NoLongerOpen:
        return render(request, "portal/team/invitation_invalid.html", status=404)


def _join(request: HttpRequest, found: Invitation) -> HttpResponse:
    if request.method == "POST":
        actions.accept(found, _person(request))
        return redirect("portal:sites")
    return render(request, "portal/team/join.html", {"invitation": found})


def _join_anew(request: HttpRequest, found: Invitation) -> HttpResponse:
    """Only who was sent the link learns whether somebody signs in with the address already."""
    people = get_user_model().objects
    is_known = found.was_mailed and people.filter(email__iexact=found.email).exists()
    form = None if is_known else JoinForm(request.POST if request.method == "POST" else None)
    if form is None or not form.is_valid():
        return render(request, "portal/team/join.html", {"invitation": found, "form": form})
    person = form.save(commit=False)  # hashes the password before any transaction begins
    person.email = found.email if found.was_mailed else ""
    with transaction.atomic():
        person.save()
        actions.accept(found, person)
    login(request, person)
    return redirect("portal:sites")


def _end(request: HttpRequest, found: Membership, text: str, page: str) -> HttpResponse:
    names = {"name": found.user.get_username(), "account": found.account}
    try:
        actions.remove(found, by=_person(request))
    except actions.LastOwner:
        return _told(request, _("An account needs an owner: make somebody else one first."), page)
    except Membership.DoesNotExist as error:
        raise Http404 from error
    return _told(request, text % names, page)


def _render_members(request: HttpRequest, failed: InvitationForm | None = None) -> HttpResponse:
    sections = account_sections(request.user, failed)
    return render(request, "portal/team/team.html", {"sections": sections})


def _person(request: HttpRequest) -> Any:
    """Who is signed in; ``members_only`` has let nobody else come here."""
    return request.user


def _told(request: HttpRequest, text: str, page: str = "portal:members") -> HttpResponseRedirect:
    messages.info(request, text)
    return redirect(page)
