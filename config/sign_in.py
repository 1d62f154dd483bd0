"""How people get in: by accounts that operators make, never by signing up."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class ClosedSignup(DefaultAccountAdapter):
    """Sign-up is closed; operators add members."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """No."""
        return False
