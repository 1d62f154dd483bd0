"""Refuse a secret at once, such as one that leaked."""

from dashboard_api.management.lifecycle_command import SecretDecision


class Command(SecretDecision):
    """manage.py revoke_secret acct_0001 3."""

    help = "Refuse calls signed with a secret from now on."
    method, moment = "revoke", "revoked_at"
    done = "Revoked {secret}: calls signed with it are refused from now on."
