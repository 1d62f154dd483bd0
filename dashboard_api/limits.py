"""Limits and other numbers that the specification leaves open, with their decision records."""

from datetime import timedelta

# The signed call: decision record 0003.
TIMESTAMP_WINDOW_SECONDS = 300
NONCE_MARGIN_SECONDS = 60  # a nonce is kept until its timestamp + window + this
MAX_BODY_BYTES = 8192  # the specification's 8 KB, section 8
MAX_JSON_DEPTH = 8
MAX_ACCOUNT_REF_LENGTH = 128

# Secrets: decision record 0004.
MAX_USABLE_SECRETS = 2
SECRET_PREFIX = "es1_live_"  # noqa: S105 - a prefix, not a secret
SECRET_RANDOM_BYTES = 32
MIN_SECRET_LENGTH = 16
MAX_SECRET_LENGTH = 512
RETIRING_PERIOD = timedelta(hours=24)
SECRET_USE_PRECISION = timedelta(minutes=1)

# Requests: decision record 0005.
DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 100
MAX_PAGE_DEPTH = 10_000  # page * page_size: decision record 0048
MAX_QUERY_LENGTH = 200

# Responses: decision record 0006.
MAX_NOTES = 50
MAX_COUNTED_MATCHES = 1_000  # of a search; pages list more of them: decision record 0048
MAX_EVIDENCE_BYTES = 2 * 1024
MAX_TEXT_BYTES = 4 * 1024
TREND_WEEKS = 13
RECENT_PERIOD = timedelta(days=7)
HISTORY_PERIOD = timedelta(days=90)  # of grades and scores: decision record 0057

# A single finding: decision record 0020.
MAX_WHOLE_TEXT_BYTES = 32 * 1024  # evidence has its own limit
MAX_LOCATIONS = 100
MAX_NAMES = 100  # of references, CVEs and CWEs of a finding, each
MAX_TIMELINE = 100  # the latest events

# Changes: decision record 0032.
MAX_CHANGES = 50  # of findings and of notes, each
MAX_COUNTED_CHANGES = 200  # new findings of each severity
MAX_REGRESSIONS = 10_000
NOTE_OVERLAP = timedelta(hours=1)  # longer than saving a note takes
MAX_CURSOR_LENGTH = 1_500
MAX_CHANGES_DAYS = 31  # decision record 0046

# Cached responses: decision record 0019.
MAX_CACHED_BYTES = 32 * 1024 * 1024  # in each process

# Entitlement: decision record 0007.
PAST_DUE_GRACE = timedelta(days=7)  # from past_due_since, even past the last day of the plan
RENEWAL_GRACE = timedelta(days=3)  # of a renewing plan, since a payment may be reported late
ENTITLEMENT_PERIOD = timedelta(days=365)  # of a new account by default

# Retry-After when a store cannot be reached.
RETRY_AFTER_SECONDS = 5

# Time limits of the database: decision record 0017.
STATEMENT_SECONDS = 3
LOCK_SECONDS = 2
SLOW_REQUEST_RETRY_AFTER_SECONDS = 30  # longer than a page waits, so that no page repeats the request

# Reports: decision record 0008.
MAX_STORED_EVIDENCE_BYTES = 64 * 1024
MAX_OTHER_LOCATIONS = 50  # of a finding in the search, besides its first: decision record 0012
MAX_REPORT_BYTES = 4 * 1024 * 1024 * 1024  # of JSON lines: decision record 0028
MAX_LINE_BYTES = 16 * 1024 * 1024  # of each JSON line
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024  # of a format that is one document
MAX_GZIP_RATIO = 200  # of unpacked to packed size, above MAX_DOCUMENT_BYTES: decision record 0037
MAX_DECODED_BYTES = 16 * 1024 * 1024  # of a document that is read into memory as a whole
MAX_DOCUMENT_VALUES = 4_000_000  # in a document or a line, counted by commas and brackets
MAX_BAD_ROWS = 10_000  # before the first valid row
MAX_SARIF_RESULTS = 5_000  # GitHub's limit for a file

MAX_UPLOAD_BYTES = 32 * 1024 * 1024  # in the admin; import_report accepts larger files
UPLOAD_LIFETIME = timedelta(days=1)  # until it is imported or deleted
INBOX_SETTLE_SECONDS = 60  # a file that changed later may be incomplete: decision record 0037
MAX_STORED_REJECTS = 1_000  # stored with an import run
MAX_CATEGORY_LENGTH = 200  # of a report: decision record 0035
MAX_OCCURRENCES = 10_000  # stored of one finding, and counted beyond: decision record 0056

# Decisions about findings: decision record 0031.
TRIAGE_BATCH = 500

PRUNE_BATCH = 1_000
