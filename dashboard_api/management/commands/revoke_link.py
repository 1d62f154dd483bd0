"""Stop answering for a link, with the reason on record."""

from dashboard_api.management.lifecycle_command import LinkDecision


class Command(LinkDecision):
    """manage.py revoke_link LINK_ID --reason "Contract ended"."""

    help = "Refuse calls for a link from now on."
    method = "revoke"
    done = "Revoked {link}: calls for it are refused from now on."
