"""The pages for operators, one module for each subject."""

from dashboard_api.admin import (
    accounts,
    callbacks,
    calls,
    cases,
    claims,
    coverage,
    entitlements,
    findings,
    notes,
    plans,
    report_tokens,
    scan_rules,
    scans,
    secrets,
    sites,
    standing,
)

__all__ = [
    "accounts",
    "callbacks",
    "calls",
    "cases",
    "claims",
    "coverage",
    "entitlements",
    "findings",
    "notes",
    "plans",
    "report_tokens",
    "scan_rules",
    "scans",
    "secrets",
    "sites",
    "standing",
]
