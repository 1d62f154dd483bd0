"""The operators' pages, by aggregate; Django's stock look works under the content security policy."""

from dashboard_api.admin import accounts, entitlements, findings, secrets, sites

__all__ = ["accounts", "entitlements", "findings", "secrets", "sites"]
