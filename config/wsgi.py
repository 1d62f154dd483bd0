"""The WSGI callable that a server loads: ``gunicorn config.wsgi``."""

import gc
import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
NO_RESTART = 3  # gunicorn's code of a worker that would fail again

try:
    application = get_wsgi_application()
    from config import doctor  # needs the settings

    doctor.refuse_earlier_tables()
except ImproperlyConfigured as error:
    print(error, file=sys.stderr)  # noqa: T201  # nothing else can write yet
    sys.exit(NO_RESTART)

doctor.log_problems()
# What is loaded by now stays for good: the collector need not look through it again and again.
gc.collect()
gc.freeze()
