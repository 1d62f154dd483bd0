"""A reader of Nikto's reports."""

from dashboard_api.scanners.nikto.reader import HEAD, read

__all__ = ["HEAD", "read"]
