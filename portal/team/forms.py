"""Forms of owners and invited people."""

from typing import Any, ClassVar

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from portal.models import Account, Membership
from portal.pages.forms import ChosenPassword, MailAddressField, PasswordErrors
from portal.texts import labels

ROLES = [(role, labels.ROLES[role]) for role in reversed(Membership.Role.values)]

NAME_TAKEN = _("This user name is taken. Choose another one.")


class RoleForm(forms.Form):
    """A member's role."""

    role = forms.ChoiceField(label=_("Role"), choices=ROLES)


class InvitationForm(RoleForm):
    """An invitation to ``account``: an address and a role."""

    email = MailAddressField(label=_("E-mail address"), max_length=254)
    field_order = ("email", "role")

    def __init__(self, *args: Any, account: Account, **kwargs: Any) -> None:
        self.account = account
        super().__init__(*args, **{"auto_id": f"invite-{account.pk}-%s", **kwargs})

    def clean_email(self) -> str:
        """Refuse the addresses of members."""
        email = str(self.cleaned_data["email"])
        if self.account.memberships.filter(user__email__iexact=email).exists():
            raise forms.ValidationError(_("This person is already a member."))
        return email


class JoinForm(PasswordErrors, ChosenPassword, UserCreationForm):  # type: ignore[type-arg]  # generic in the stubs only
    """The user name and password of a new person."""

    class Meta:
        model = User
        fields = ("username",)
        labels: ClassVar = {"username": _("User name")}
        help_texts: ClassVar = {"username": ""}
        error_messages: ClassVar = {"username": {"unique": NAME_TAKEN}}

    def clean_username(self) -> str:
        """Refuse names that look like an e-mail address: it could be another person's."""
        username = str(super().clean_username())
        if "@" in username:
            raise forms.ValidationError(_("Choose a name without the @ sign."))
        return username

    def refuse_name(self) -> None:
        """Add the error that another person has the name."""
        self.add_error("username", NAME_TAKEN)
