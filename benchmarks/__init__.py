"""Benchmarks of docs/performance.md: ``make bench`` runs all, ``python -m benchmarks.es1`` one."""
