"""The product's settings, and the baselines' addresses beside its own."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.urls"
