"""The benchmarks of docs/performance.md: ``make bench``, or one, such as ``python -m benchmarks.es1``."""
