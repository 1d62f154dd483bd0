"""The product's settings, and the baselines' addresses beside its own."""

import json
import os

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.urls"
MIDDLEWARE = [*MIDDLEWARE, "benchmarks.anew.forgetful"]  # noqa: F405

# How benchmarks.connections lets servers connect in other ways than the project does.
_otherwise = json.loads(os.environ.get("BENCHMARK_CONNECTIONS", "{}"))
DATABASES["default"]["OPTIONS"] |= _otherwise.pop("OPTIONS", {})  # noqa: F405
DATABASES["default"] |= _otherwise  # noqa: F405
