"""The product's settings, with the bare view and uncached responses added."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.urls"
MIDDLEWARE = [*MIDDLEWARE, "benchmarks.uncached.uncached"]  # noqa: F405
