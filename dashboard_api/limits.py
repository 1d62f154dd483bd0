"""Limits and other numbers that the specification leaves open."""

from datetime import timedelta

# The signed call
TIMESTAMP_WINDOW_SECONDS = 300
NONCE_MARGIN_SECONDS = 60  # a nonce is kept until its timestamp + window + this
MAX_BODY_BYTES = 8192  # the specification's 8 KB, section 8
MAX_JSON_DEPTH = 8

# Secrets
MAX_USABLE_SECRETS = 2
SECRET_PREFIX = "es1_live_"  # noqa: S105 - a prefix, not a secret
MAX_TEST_SECRETS = 1  # in addition to those
TEST_SECRET_PREFIX = "es1_test_"  # noqa: S105 - likewise
SECRET_RANDOM_BYTES = 32
MIN_SECRET_LENGTH = 16
MAX_SECRET_LENGTH = 512
RETIRING_PERIOD = timedelta(hours=24)
SECRET_USE_PRECISION = timedelta(minutes=1)

# Calls on record, and the rate limit (its numbers are settings)
MAX_CALLS_PER_SECOND = MAX_CALLS_BURST = 9_999
CALL_RECORD_LIFETIME = timedelta(days=180)  # the triggers have this number, too
CLOCK_MARGIN = timedelta(minutes=5)  # by which the clock of the database may be behind
MAX_SLOW_CALLS_AT_ONCE = 2  # of an account, of the four threads of a process
SLOW_RETRY_AFTER_SECONDS = 2
MANY_SITES = 20  # an account that may link more gets a burst of its own
USAGE_DAYS = 31  # in the response about an entitlement
NEAR_PERCENT = 80  # of a limit, at which customers are warned
USAGE_LIFETIME = timedelta(days=400)

# Requests
MAX_HOSTS = 50  # in the filter by host, those with most findings

# Responses
MAX_NOTES = 50
MAX_EVIDENCE_BYTES = 2 * 1024
MAX_TEXT_BYTES = 4 * 1024
TREND_WEEKS = 13
AGE_DAYS = (7, 30, 90, 365)  # the last day of each age of open findings; a fifth age has no end
RECENT_PERIOD = timedelta(days=7)
HISTORY_PERIOD = timedelta(days=90)  # of grades

# Problems
MAX_DO_FIRST = 5
MAX_PROBLEM_SAMPLES = 5  # findings read of a problem and severity, to describe it
MAX_FIX_LENGTH = 300  # characters of the first sentence of a remediation that gives advice
MAX_FIX_START = 1_000  # characters in which it is sought

# A single finding
MAX_WHOLE_TEXT_BYTES = 32 * 1024  # evidence has its own limit
MAX_NAMES = 100  # of references, CVEs and CWEs of a finding, each
MAX_TIMELINE = 100  # the latest events

# Changes
NEW_LINK = timedelta(days=1)  # for so long, the first cursor is before the first import
NOTE_OVERLAP = timedelta(hours=1)  # longer than saving a note takes

# Claims to websites
CHECK_PAUSE = timedelta(seconds=15)  # between two checks of a claim by hand
CHECKS_AN_HOUR = 30  # of a claim by hand
ACCOUNT_CHECKS_AN_HOUR = 60  # of all claims of an account by hand: slow websites hold up the checks of others

# Scans
CRAWLER_RETRY_AFTER_SECONDS = 600  # while all scans are stopped

# Payment callbacks
MAX_CALLBACK_BYTES = 256 * 1024

# Cached responses
MAX_CACHED_BYTES = 32 * 1024 * 1024  # in each process
MAX_KEPT_CELLS = 200_000  # of all websites together, in each process: some 60 MB

# Entitlement
PAST_DUE_GRACE = timedelta(days=7)  # from past_due_since, even past the last day of the plan
RENEWAL_GRACE = timedelta(days=3)  # of a renewing plan, since a payment may be reported late
ENTITLEMENT_PERIOD = timedelta(days=365)  # of a new account by default

# Retry-After when a store cannot be reached.
RETRY_AFTER_SECONDS = 5

# Time limits of the database
STATEMENT_SECONDS = 3
LOCK_SECONDS = 2
SLOW_REQUEST_RETRY_AFTER_SECONDS = 30  # longer than a page waits, so that no page repeats the request

# Reports
MAX_STORED_EVIDENCE_BYTES = 64 * 1024
MAX_OTHER_LOCATIONS = 50  # of a finding in the search, after its first
MAX_REPORT_BYTES = 4 * 1024 * 1024 * 1024  # of JSON lines
MAX_LINE_BYTES = 16 * 1024 * 1024  # of each JSON line
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024  # of a format that is one document
MAX_GZIP_RATIO = 200  # of unpacked to packed size, above MAX_DOCUMENT_BYTES
MAX_DECODED_BYTES = 16 * 1024 * 1024  # of a document that is read into memory as a whole
MAX_DOCUMENT_VALUES = 4_000_000  # in a document or a line, counted by commas and brackets
MAX_BAD_ROWS = 10_000  # before the first valid row
MAX_SARIF_RESULTS = 5_000  # GitHub's limit for a file
MAX_SCANNERS = 100  # of a website: each may be new, and all accounts share the table of scanners
MAX_SARIF_PARTS = 50  # tools and categories in a file, each of which is a report and may be a new scanner
# What reading a report may cost, each more for a longer one
READ_SECONDS, READ_SECONDS_A_MB = 60, 2  # of the processor
STAGED_MB, STAGED_FOR_EACH_BYTE = 256, 16  # on the disk, until it is stored

MAX_UPLOAD_BYTES = 32 * 1024 * 1024  # in the admin; import_report accepts larger files
UPLOAD_LIFETIME = timedelta(days=1)  # until it is imported or deleted
INBOX_SETTLE_SECONDS = 60  # a file that changed later may be incomplete
UNDO_LIFETIME = timedelta(days=30)  # an import can be taken back
MAX_STORED_REJECTS = 1_000  # stored with an import run
MAX_CATEGORY_LENGTH = 200  # of a report

# Reports over HTTP
TOKEN_PREFIX = "rpt_"  # noqa: S105 - a prefix, not a secret
TOKEN_LIFETIME = timedelta(days=365)  # by default
MAX_TOKEN_LIFETIME = timedelta(days=2 * 366)
MAX_SENT_REPORT_BYTES = 1024**3  # of JSON lines, also after unpacking; of a document MAX_DOCUMENT_BYTES
MAX_IDEMPOTENCY_KEY_LENGTH = 200
MAX_UNFINISHED_REPORTS = 3  # of an account
OWN_SOURCES = {"essentials", "dns"}  # of the built-in engines: a token sends them only if it names them
MAX_SENT_BYTES_A_DAY = 4 * 1024**3  # of an account's reports, as far as they were read, after unpacking
MORE_BYTES_A_REPORT = 1024**2  # that each report counts for, also a refused one: each leaves rows
MAX_REPORTS_AT_ONCE = 2  # that a process receives or waits for: its other threads stay free for calls
REPORT_WAIT_SECONDS = 10  # then the response is 202
REPORT_RETRY_AFTER_SECONDS = 15
MAX_REPORT_ATTEMPTS = 3  # to import a report whose process died
REPORT_JOB_LIFETIME = timedelta(days=7)  # of a finished one: its key can be used again
LOST_REPORT_PERIOD = timedelta(days=1)  # after which a report without a file, or a file without one, is lost

MAX_OCCURRENCES = 10_000  # stored of one finding, and counted beyond

# Decisions about findings
TRIAGE_BATCH = 500

PRUNE_BATCH = 1_000
