"""Scans of verified websites: the queue, the engines and the worker."""
