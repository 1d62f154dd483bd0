"""A reader of testssl.sh's reports."""

from dashboard_api.scanners.testssl.reader import read, recognises

__all__ = ["read", "recognises"]
