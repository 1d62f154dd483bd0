"""Tokens of password reset links."""

from typing import Any

from django.contrib.auth.tokens import PasswordResetTokenGenerator


class ResetTokens(PasswordResetTokenGenerator):
    """Django's tokens, but a sign-in does not end them: a thief could end every link by signing in."""

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        """Return the values that end the link when they change: using it changes the password."""
        return f"{user.pk}{user.password}{timestamp}{user.email}"
