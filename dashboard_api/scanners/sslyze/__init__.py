"""A reader of SSLyze's reports."""

from dashboard_api.scanners.sslyze.reader import read, recognises

__all__ = ["read", "recognises"]
