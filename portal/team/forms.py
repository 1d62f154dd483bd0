"""What owners and invited people fill in."""

from datetime import timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal import labels
from portal.models import Account
from portal.models.members import Membership
from portal.passwords import ChosenPassword

MAX_INVITATIONS_A_DAY = 20
ROLES = [(role, labels.ROLES[role]) for role in reversed(Membership.Role.values)]


class RoleForm(forms.Form):
    """A member's role."""

    role = forms.ChoiceField(label=_("Role"), choices=ROLES)


class InvitationForm(RoleForm):
    """Whom to invite to ``account``, and as what."""

    email = forms.EmailField(label=_("E-mail address"), max_length=254)
    field_order = ("email", "role")

    def __init__(self, *args: Any, account: Account, **kwargs: Any) -> None:
        self.account = account
        super().__init__(*args, **{"auto_id": f"invite-{account.pk}-%s", **kwargs})

    def clean_email(self) -> str:
        """In small letters; not a member's, of this account."""
        email = str(self.cleaned_data["email"]).lower()
        if self.account.memberships.filter(user__email__iexact=email).exists():
            raise forms.ValidationError(_("This person is a member already."))
        return email

    def clean(self) -> None:
        """Nobody sends letters by the hundred."""
        super().clean()
        yesterday = timezone.now() - timedelta(days=1)
        if self.account.invitations.filter(created_at__gt=yesterday).count() >= MAX_INVITATIONS_A_DAY:
            raise forms.ValidationError(_("That was enough invitations for one day. Go on tomorrow."))


class JoinForm(ChosenPassword, UserCreationForm):  # type: ignore[type-arg]  # generic in the stubs only
    """A new person's user name and password."""

    class Meta:
        model = User
        fields = ("username",)
        labels: ClassVar = {"username": _("User name")}
        help_texts: ClassVar = {"username": ""}

    def clean_username(self) -> str:
        """Never one that could be taken for somebody's address, which nobody has proved to be theirs."""
        username = str(super().clean_username())
        if "@" in username:
            raise forms.ValidationError(_("Choose a name without the sign @."))
        return username
