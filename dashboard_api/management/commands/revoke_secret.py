"""Revoke a secret at once, for example after a leak."""

from dashboard_api.management.lifecycle_command import SecretCommand


class Command(SecretCommand):
    """manage.py revoke_secret acct_0001 3."""

    help = (
        "Revoke a secret: calls signed with it are refused from now on. A portal in the service's process "
        "that signs with it gets another at once."
    )
    method, time_field = "revoke", "revoked_at"
    done = "Revoked {secret}: calls signed with it are refused from now on."
