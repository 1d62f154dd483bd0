"""Retire a secret, which works for one more day while the new one is rolled out."""

from dashboard_api.management.lifecycle_command import SecretCommand


class Command(SecretCommand):
    """manage.py retire_secret acct_0001 3."""

    help = (
        "Retire a secret: it works for one more day. A portal in the service's process that signs with it "
        "gets another at once."
    )
    method, time_field = "retire", "retires_at"
    done = "Retired {secret}: it works until {at}."
