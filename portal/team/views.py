"""Pages of the team: every change is a POST, followed by a message that confirms it."""

from contextlib import suppress
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model, login
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from foundation.pages.proofs import lost_form, require_proof
from portal.models import Account, Invitation, Membership, ShareLink
from portal.pages.access import current_user, members_only
from portal.pages.urls import portal_origin
from portal.team import actions, emails, seats
from portal.team.forms import InvitationForm, JoinForm, RoleForm
from portal.team.people import AddressTaken, NameTaken, add_named, add_person
from portal.team.view_models import account_sections


@require_safe
@members_only
def team(request: HttpRequest) -> HttpResponse:
    """Show the members of the person's accounts."""
    return _render_team(request)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def invite(request: HttpRequest, account: int) -> HttpResponse:
    """Invite a person by e-mail; without a mail server, show the link once.

    The form is on the team's page.
    """
    if request.method != "POST":
        return lost_form(request, "portal:team")
    own_memberships = Membership.objects.of_user(request.user).owners()
    own_account = get_object_or_404(Account, memberships__in=own_memberships, pk=account)
    person, form = current_user(request), InvitationForm(request.POST, account=own_account)
    if not form.is_valid():
        return _render_team(request, form)
    require_proof(request)
    by_email = bool(settings.EMAIL_URL)
    try:
        invitation = actions.invite(
            own_account, **form.cleaned_data, by=person, was_emailed=by_email, seats=seats.of(own_account)
        )
    except actions.TooManyInvitations:
        form.add_error(None, _("You have sent many invitations today. Try again tomorrow."))
        return _render_team(request, form)
    except (seats.NoSeat, seats.PlanInactive) as refusal:
        form.add_error(None, _refusal(refusal))
        return _render_team(request, form)
    except Membership.DoesNotExist as error:
        raise Http404 from error
    link = portal_origin(request) + reverse("portal:join", args=[invitation.token])
    if not by_email:
        return render(request, "portal/team/invitation_link.html", {"invitation": invitation, "link": link})
    try:
        emails.send_invitation(invitation, link, by=person.get_username())
    except OSError:
        with suppress(actions.InvitationClosed):  # the same form was sent twice at once
            actions.withdraw(invitation, by=person)
        form.add_error(None, _("The e-mail could not be sent. Try again later."))
        return _render_team(request, form)
    names = {"email": invitation.email, "role": invitation.get_role_display()}
    return _confirm(request, _("%(email)s is invited as %(role)s.") % names)


@require_POST
@members_only
def withdraw(request: HttpRequest, invitation: UUID) -> HttpResponse:
    """Withdraw an invitation, so that its link stops working."""
    own_accounts = Membership.objects.of_user(request.user).owners().values("account")
    own_invitation = get_object_or_404(Invitation, pk=invitation, account__in=own_accounts)
    try:
        actions.withdraw(own_invitation, by=current_user(request))
    except actions.InvitationClosed:
        return _confirm(request, _("This invitation is no longer open."))
    return _confirm(request, _("The invitation of %(email)s is withdrawn.") % {"email": own_invitation.email})


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def change_role(request: HttpRequest, membership: int) -> HttpResponse:
    """Give a member another role, as an owner; the form is on the team's page."""
    if request.method != "POST":
        return lost_form(request, "portal:team")
    member = get_object_or_404(Membership.objects.manageable_by(request.user), pk=membership)
    form, old_role = RoleForm(request.POST), member.role
    if not form.is_valid():
        raise BadRequest
    if Membership.Role.OWNER in (old_role, form.cleaned_data["role"]):
        require_proof(request)
    try:
        actions.change_role(member, form.cleaned_data["role"], by=current_user(request))
    except actions.LastOwner:
        return _confirm(request, _("An organization needs an owner: make another member an owner first."))
    except Membership.DoesNotExist as error:
        raise Http404 from error
    _advise(request, member, old_role, member.role)
    return _confirm(request, _("The role of %(name)s is changed.") % {"name": member.user.get_username()})


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def remove(request: HttpRequest, membership: int) -> HttpResponse:
    """Remove a member, as an owner; the form is on the team's page."""
    if request.method != "POST":
        return lost_form(request, "portal:team")
    member = get_object_or_404(Membership.objects.manageable_by(request.user), pk=membership)
    require_proof(request)
    return _end_membership(
        request, member, _("%(name)s is no longer a member of %(account)s."), "portal:team"
    )


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def leave(request: HttpRequest, membership: int) -> HttpResponse:
    """Leave an account; the form is on the page of the person's own account."""
    if request.method != "POST":
        return lost_form(request, "account")
    own = get_object_or_404(Membership.objects.of_user(request.user), pk=membership)
    require_proof(request)
    return _end_membership(request, own, _("You are no longer a member of %(account)s."), "account")


@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation, as the signed-in person or as a new one."""
    try:
        invitation = actions.open_invitation(token)
        if request.user.is_authenticated:
            return _join(request, invitation)
        return _sign_up_and_join(request, invitation)
    except actions.InvitationClosed:
        return render(request, "portal/team/invitation_invalid.html", status=404)
    except seats.NoSeat:
        return render(request, "portal/team/invitation_without_seat.html", status=409)


def _join(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    if request.method == "POST":
        actions.accept(invitation, current_user(request), seats=seats.of(invitation.account))
        return redirect("portal:sites")
    is_member = invitation.account.memberships.filter(user=current_user(request)).exists()
    return render(request, "portal/team/join.html", {"invitation": invitation, "is_member": is_member})


def _sign_up_and_join(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    """Show or accept the form for a new person.

    An existing address leads to a page without a form only if the link came by e-mail: otherwise a stranger
    could learn that the address has a user.
    """
    people = get_user_model().objects
    is_user = invitation.was_emailed and people.filter(email__iexact=invitation.email).exists()
    form = None if is_user else JoinForm(request.POST if request.method == "POST" else None)
    if form is None or not form.is_valid():
        return render(request, "portal/team/join.html", {"invitation": invitation, "form": form})
    own_seats = seats.of(invitation.account)
    seats.check_may_join(invitation.account, own_seats)  # first, because hashing the password is slow
    person = form.save(commit=False)  # hashes the password before a transaction begins
    try:
        with transaction.atomic():
            if invitation.was_emailed:
                add_person(person, invitation.email)
            else:
                add_named(person)
            actions.accept(invitation, person, seats=own_seats)
    except AddressTaken:
        return render(request, "portal/team/join.html", {"invitation": invitation, "form": None})
    except NameTaken:
        form.refuse_name()
        return render(request, "portal/team/join.html", {"invitation": invitation, "form": form})
    login(request, person)
    return redirect("portal:sites")


def _end_membership(request: HttpRequest, membership: Membership, text: str, page: str) -> HttpResponse:
    names = {"name": membership.user.get_username(), "account": membership.account}
    try:
        actions.remove(membership, by=current_user(request))
    except actions.LastOwner:
        return _confirm(
            request, _("An organization needs an owner: make another member an owner first."), page
        )
    except Membership.DoesNotExist as error:
        raise Http404 from error
    if membership.user != request.user:
        _advise(request, membership, membership.role, "")
    return _confirm(request, text % names, page)


def _advise(request: HttpRequest, member: Membership, old_role: str, new_role: str) -> None:
    """Warn of access that a former role may leave behind; ``new_role`` is empty for a removed member."""
    person, texts = member.user.get_username(), []
    if old_role == Membership.Role.OWNER and new_role != Membership.Role.OWNER:
        texts.append(
            _(
                "%(name)s may know API secrets of %(account)s, which still work: "
                "replace them on the page “API”."
            )
        )
    share_links = ShareLink.objects.of_account(member.account).filter(creator=member.user)
    may_share = new_role in (Membership.Role.OWNER, Membership.Role.MANAGER)
    if not may_share and share_links.live(at=timezone.now()).exists():
        texts.append(
            _("Share links that %(name)s made still work, until someone ends them on the page “Share links”.")
        )
    for text in texts:
        messages.warning(request, text % {"name": person, "account": member.account})


def _refusal(refusal: Exception) -> SafeString:
    """Return why no person can be invited now, with a link to the plan."""
    if isinstance(refusal, seats.NoSeat):
        text = ngettext(
            "Your plan has %(count)s seat, and it is taken.",
            "Your plan has %(count)s seats, and all are taken by members and open invitations.",
            refusal.limit,
        ) % {"count": refusal.limit}
        text += " " + _("Remove a member, withdraw an invitation, or choose a larger plan.")
    else:
        text = _("A payment is missing, or your plan is not active: people can be invited once it is.")
    return format_html('{} <a href="{}">{}</a>', text, reverse("portal:plan"), _("View plan"))


def _render_team(request: HttpRequest, invalid_form: InvitationForm | None = None) -> HttpResponse:
    sections = account_sections(request.user, invalid_form)
    context = {"sections": sections, "is_owner": any(section.form for section in sections)}
    return render(request, "portal/team/team.html", context)


def _confirm(request: HttpRequest, text: str, page: str = "portal:team") -> HttpResponseRedirect:
    """Redirect to ``page`` with the message ``text``."""
    messages.info(request, text)
    return redirect(page)
