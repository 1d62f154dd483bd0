"""The product's settings, with a bare view and uncached responses added."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.urls"
MIDDLEWARE = [*MIDDLEWARE, "benchmarks.urls.uncached"]  # noqa: F405
