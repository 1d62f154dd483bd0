"""The demo's data in a separate database, for benchmarks that serve the portal."""

from django.conf import settings
from django.core.management import call_command

from benchmarks import databases


def create_demo(backend: str, name: str, *, password: str) -> dict[str, str]:
    """Seed the demo into a new database; return the environment variables that serve it as shipped."""
    databases.create(backend, name)
    databases.use(backend, name)
    from config.demo.seeding import seed  # imports models: only after Django is set up

    for alias in settings.DATABASES:
        call_command("migrate", database=alias, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    seed(password)
    # The admin is measured, too: staff sign in with a password alone.
    shipped = {"DJANGO_SETTINGS_MODULE": "config.settings", "STAFF_SECOND_FACTOR": "false"}
    return databases.environment(backend, name) | shipped
