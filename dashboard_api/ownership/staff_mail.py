"""E-mails to the staff who decide about claims, in English."""

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse

from dashboard_api.models import OwnershipClaim, Website

_PERMISSION = "dashboard_api.change_ownershipclaim"
_BACKEND = "django.contrib.auth.backends.ModelBackend"


def tell_contested(claim: OwnershipClaim) -> None:
    """Tell staff to decide about a contested claim."""
    text = f"{claim.account} has proven {claim.host}, which belongs to {_holders(claim)}. "
    text += "Find out who owns it, and decide."
    _tell(claim, f"{claim.host} is contested", text)


def tell_taken_over(claim: OwnershipClaim) -> None:
    """Tell staff that a claim takes a website over from its holders."""
    text = f"{claim.account} has proven {claim.host}, and now has it, without findings. "
    text += f"Those of {_holders(claim)} are in the archive."
    _tell(claim, f"{claim.host} was taken over", text)


def _holders(claim: OwnershipClaim) -> str:
    return Website.objects.get(host=claim.host).other_holders(claim.account)


def _tell(claim: OwnershipClaim, subject: str, text: str) -> None:
    """Send the e-mail after the commit; an error is only logged."""
    page = reverse("admin:dashboard_api_ownershipclaim_change", args=[claim.pk])
    body = f"{text}\n\n{settings.PORTAL_BASE_URL}{page}\n"
    transaction.on_commit(lambda: _send(subject, body), robust=True)


def _send(subject: str, body: str) -> None:
    staff = get_user_model().objects.with_perm(_PERMISSION, backend=_BACKEND)
    addresses = staff.filter(is_staff=True).exclude(email="").values_list("email", flat=True)
    EmailMessage(subject, body, bcc=[*addresses]).send()
