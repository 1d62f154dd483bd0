"""Revoke a link, with a reason."""

from dashboard_api.management.lifecycle_command import LinkCommand


class Command(LinkCommand):
    """manage.py revoke_link LINK_ID --reason "Contract ended"."""

    help = "Revoke a link: its calls are refused from now on."
    method = "revoke"
    done = "Revoked {link}: its calls are refused from now on."
