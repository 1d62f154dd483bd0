"""A reader of Nikto's reports."""

from dashboard_api.scanners.nikto.reader import read, recognises

__all__ = ["read", "recognises"]
