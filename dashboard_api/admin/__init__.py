"""The pages for operators, one module for each subject."""

from dashboard_api.admin import accounts, coverage, entitlements, findings, notes, secrets, sites

__all__ = ["accounts", "coverage", "entitlements", "findings", "notes", "secrets", "sites"]
