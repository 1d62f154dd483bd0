"""Let a secret end by itself, while its successor is rolled out."""

from dashboard_api.management.lifecycle_command import SecretDecision


class Command(SecretDecision):
    """manage.py retire_secret acct_0001 3."""

    help = "Let a secret work for one more day, then no more."
    method, moment = "retire", "retires_at"
    done = "{secret} works until {at}, then no more."
