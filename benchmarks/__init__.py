"""What the README claims, measured: ``make bench``, or one file, such as ``python -m benchmarks.es1``."""
