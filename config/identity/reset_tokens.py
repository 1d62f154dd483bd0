"""Tokens of links to a new password."""

from typing import Any

from django.contrib.auth.tokens import PasswordResetTokenGenerator


class ResetTokens(PasswordResetTokenGenerator):
    """Django's tokens, which a sign-in does not end: someone who knows the password could end every link."""

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        """Return what ends the link when it changes: the password does after its use."""
        return f"{user.pk}{user.password}{timestamp}{user.email}"
