"""The WSGI callable that a server loads: ``gunicorn config.wsgi``."""

import gc
import os
import sys

import django
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
NO_RESTART = 3  # gunicorn's exit code of a worker that would fail again

try:
    django.setup(set_prefix=False)
    from config.operations import doctor  # needs the settings, as does the next
    from config.web.wsgi_handler import Handler

    application = Handler()
    doctor.start()
    reverse("account_login")  # loads all views, so that no visitor waits for that
except ImproperlyConfigured as error:
    print(error, file=sys.stderr)  # noqa: T201  # logging is not set up yet
    sys.exit(NO_RESTART)

# The garbage collector need not visit what is loaded now: it lives as long as the process.
gc.collect()
gc.freeze()
