"""A reader of SARIF reports."""

from dashboard_api.scanners.sarif.reader import HEAD, read

__all__ = ["HEAD", "read"]
