"""The pages for operators, one module for each subject."""

from dashboard_api.admin import (
    accounts,
    calls,
    coverage,
    entitlements,
    findings,
    notes,
    report_tokens,
    scans,
    secrets,
    sites,
    standing,
)

__all__ = [
    "accounts",
    "calls",
    "coverage",
    "entitlements",
    "findings",
    "notes",
    "report_tokens",
    "scans",
    "secrets",
    "sites",
    "standing",
]
