"""A reader of testssl.sh's reports."""

from dashboard_api.scanners.testssl.reader import HEAD, read

__all__ = ["HEAD", "read"]
