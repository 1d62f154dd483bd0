"""Restore a revoked link, with a reason."""

from dashboard_api.management.lifecycle_command import LinkCommand


class Command(LinkCommand):
    """manage.py restore_link LINK_ID --reason "Contract renewed"."""

    help = "Restore a revoked link: its calls are answered again."
    method = "restore"
    done = "Restored {link}: its calls are answered again."
