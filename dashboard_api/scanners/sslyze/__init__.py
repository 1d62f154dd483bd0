"""A reader of SSLyze's reports."""

from dashboard_api.scanners.sslyze.reader import HEAD, read

__all__ = ["HEAD", "read"]
