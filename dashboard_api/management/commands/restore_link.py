"""Answer for a revoked link again, with the reason on record."""

from dashboard_api.management.lifecycle_command import LinkDecision


class Command(LinkDecision):
    """manage.py restore_link LINK_ID --reason "Contract renewed"."""

    help = "Answer calls for a revoked link again."
    method = "restore"
    done = "Restored {link}: calls for it are answered again."
