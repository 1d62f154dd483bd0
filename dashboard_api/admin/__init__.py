"""The operators' pages, by aggregate; Django's stock look works under the content security policy."""

from dashboard_api.admin import accounts, coverage, entitlements, findings, notes, secrets, sites

__all__ = ["accounts", "coverage", "entitlements", "findings", "notes", "secrets", "sites"]
