"""A reader of SARIF reports."""

from dashboard_api.scanners.sarif.reader import read, recognises

__all__ = ["read", "recognises"]
