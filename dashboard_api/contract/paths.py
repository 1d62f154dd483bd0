"""Paths of the signed calls."""

DASHBOARD_PATH = "/v1/site/dashboard"
FINDING_PATH = "/v1/site/finding"
CHANGES_PATH = "/v1/site/changes"
CALLS_PATH = "/v1/account/calls"
ENTITLEMENT_PATH = "/v1/account/entitlement"
ACCOUNT_CHANGES_PATH = "/v1/account/changes"
WEBSITES_PATH = "/v1/account/websites"
# Calls that programs repeat to learn what is new, or about the account: they do not count against the day.
UNCOUNTED_PATHS = frozenset((CHANGES_PATH, CALLS_PATH, ENTITLEMENT_PATH, ACCOUNT_CHANGES_PATH))
CLAIM_PATH = "/v1/site/claim"
CLAIM_CHECK_PATH = "/v1/site/claim/check"
CLAIM_WITHDRAW_PATH = "/v1/site/claim/withdraw"
CLAIMS_PATH = "/v1/site/claims"
PUBLICITY_PATH = "/v1/account/publicity"
SECRETS_PATH = "/v1/account/secrets"
SCAN_PATH = "/v1/site/scan"
SCAN_STATUS_PATH = "/v1/site/scan/status"
SCAN_CANCEL_PATH = "/v1/site/scan/cancel"
SCAN_SCHEDULE_PATH = "/v1/site/scan/schedule"
SCANS_PATH = "/v1/site/scans"
CHANGING_PATHS = frozenset(
    (
        CLAIM_PATH, CLAIM_CHECK_PATH, CLAIM_WITHDRAW_PATH, PUBLICITY_PATH, SECRETS_PATH,
        SCAN_PATH, SCAN_CANCEL_PATH, SCAN_SCHEDULE_PATH,
    )
)  # fmt: skip
