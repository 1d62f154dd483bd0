"""The WSGI callable that a server loads: ``gunicorn config.wsgi``."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
# What is loaded by now stays for good: the collector need not look through it again and again.
gc.collect()
gc.freeze()
