"""Limits and other numbers that the specification does not set."""

from datetime import timedelta

# The signed call
TIMESTAMP_WINDOW_SECONDS = 300
NONCE_MARGIN_SECONDS = 60  # a nonce is kept until timestamp + window + margin
MAX_BODY_BYTES = 8192  # the specification's 8 KB, section 8
MAX_JSON_DEPTH = 8

# Secrets
MAX_USABLE_SECRETS = 2
SECRET_PREFIX = "es1_live_"  # noqa: S105 - a prefix, not a secret
MAX_TEST_SECRETS = 1  # in addition
TEST_SECRET_PREFIX = "es1_test_"  # noqa: S105 - likewise
SECRET_RANDOM_BYTES = 32
MIN_SECRET_LENGTH = 16
MAX_SECRET_LENGTH = 512
RETIRING_PERIOD = timedelta(hours=24)
SECRET_USE_PRECISION = timedelta(minutes=1)

# Calls on record, and the rate limit (settings have its defaults)
MAX_CALLS_PER_SECOND = MAX_CALLS_BURST = 9_999
CALL_RECORD_LIFETIME = timedelta(days=180)  # also written in the triggers: change both
CLOCK_MARGIN = timedelta(minutes=5)  # the database's clock may be so far behind
MAX_SLOW_CALLS_AT_ONCE = 2  # of one account; a process has four threads
SLOW_RETRY_AFTER_SECONDS = 2
MANY_SITES = 20  # accounts that may link more websites get a larger burst
USAGE_DAYS = 31  # in the response about an entitlement
NEAR_PERCENT = 80  # customers are warned when they have used this much of a limit
USAGE_LIFETIME = timedelta(days=400)

# Requests
MAX_HOSTS = 50  # shown in the filter by host

# Responses
MAX_NOTES = 50
MAX_EVIDENCE_BYTES = 2 * 1024
MAX_TEXT_BYTES = 4 * 1024
TREND_WEEKS = 13
AGE_DAYS = (7, 30, 90, 365)  # upper bounds of the ages of open findings; the fifth age has no bound
RECENT_PERIOD = timedelta(days=7)
HISTORY_PERIOD = timedelta(days=90)  # of grades

# Problems
MAX_DO_FIRST = 5
MAX_PROBLEM_SAMPLES = 5  # findings read to describe a problem, for each severity
MAX_FIX_LENGTH = 300  # characters of a fix in one line
MAX_FIX_START = 1_000  # characters of a remediation in which the fix is searched

# A single finding
MAX_WHOLE_TEXT_BYTES = 32 * 1024  # of description, remediation and references; evidence has its own limit
MAX_NAMES = 100  # references, CVEs and CWEs of a finding, each
MAX_TIMELINE = 100  # events, the latest ones

# Changes
NEW_LINK = timedelta(days=1)  # during this time, the first cursor is before the first import
NOTE_OVERLAP = timedelta(hours=1)  # longer than saving a note takes

# Claims to websites
CHECK_PAUSE = timedelta(seconds=15)  # between two checks of a claim by hand
CHECKS_AN_HOUR = 30  # of one claim, by hand
ACCOUNT_CHECKS_AN_HOUR = (
    60  # of all claims of an account, by hand: slow websites delay checks of other accounts
)

# Scans
CRAWLER_RETRY_AFTER_SECONDS = 600  # while all scans are stopped

# Payment callbacks
MAX_CALLBACK_BYTES = 256 * 1024

# Cached responses
MAX_CACHED_BYTES = 32 * 1024 * 1024  # in each process
MAX_KEPT_CELLS = 200_000  # in each process, for all websites together: about 60 MB

# Entitlement
PAST_DUE_GRACE = timedelta(days=7)  # counted from past_due_since, even after the last day of the plan
RENEWAL_GRACE = timedelta(days=3)  # for plans that renew: the payment may be reported late
ENTITLEMENT_PERIOD = timedelta(days=365)  # default of a new account

# Retry-After when a store cannot be reached
RETRY_AFTER_SECONDS = 5

# Time limits of the database
STATEMENT_SECONDS = 3
LOCK_SECONDS = 2
SLOW_REQUEST_RETRY_AFTER_SECONDS = 30  # longer than a page waits, so a page does not repeat the request

# Reports
MAX_STORED_EVIDENCE_BYTES = 64 * 1024
MAX_OTHER_LOCATIONS = 50  # locations of a finding that a search finds, in addition to the first
MAX_REPORT_BYTES = 4 * 1024 * 1024 * 1024  # of JSON lines
MAX_LINE_BYTES = 16 * 1024 * 1024  # of each JSON line
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024  # of a report that is one document, not lines
MAX_GZIP_RATIO = 200  # unpacked size to packed size; checked above MAX_DOCUMENT_BYTES
MAX_DECODED_BYTES = 16 * 1024 * 1024  # of a document that is read into memory as a whole
MAX_DOCUMENT_VALUES = 4_000_000  # in a document or a line, counted by commas and brackets
MAX_BAD_ROWS = 10_000  # before the first valid row
MAX_SARIF_RESULTS = 5_000  # GitHub's limit for a file
MAX_SCANNERS = 100  # of a website: reports can add scanners, and all accounts share the table of scanners
MAX_SARIF_PARTS = 50  # tools and categories in a file: each is a report, and can add a scanner
# Cost of reading a report: a fixed part, and a part that grows with its length
READ_SECONDS, READ_SECONDS_A_MB = 60, 2  # processor time
STAGED_MB, STAGED_FOR_EACH_BYTE = 256, 16  # temporary disk space

MAX_UPLOAD_BYTES = 32 * 1024 * 1024  # in the admin; import_report accepts larger files
UPLOAD_LIFETIME = timedelta(days=1)  # until it is imported or deleted
INBOX_SETTLE_SECONDS = 60  # a file that changed more recently may be incomplete
UNDO_LIFETIME = timedelta(days=30)  # an import can be taken back for so long
MAX_STORED_REJECTS = 1_000  # of each import run
MAX_CATEGORY_LENGTH = 200  # of a report

# Reports over HTTP
TOKEN_PREFIX = "rpt_"  # noqa: S105 - a prefix, not a secret
TOKEN_LIFETIME = timedelta(days=365)  # by default
MAX_TOKEN_LIFETIME = timedelta(days=2 * 366)
MAX_SENT_REPORT_BYTES = 1024**3  # JSON lines, packed and unpacked; for documents see MAX_DOCUMENT_BYTES
MAX_IDEMPOTENCY_KEY_LENGTH = 200
MAX_UNFINISHED_REPORTS = 3  # of an account
OWN_SOURCES = {"essentials", "dns"}  # the built-in engines: a token must name them to send their reports
MAX_SENT_BYTES_A_DAY = 4 * 1024**3  # of an account, unpacked; counts only what was read
MORE_BYTES_A_REPORT = 1024**2  # added to each report, even a refused one, because each leaves rows
MAX_REPORTS_AT_ONCE = 2  # received or waited for by a process: its other threads are for calls
REPORT_WAIT_SECONDS = 10  # then the response is 202
REPORT_RETRY_AFTER_SECONDS = 15
MAX_REPORT_ATTEMPTS = 3  # a process can die while it imports a report
REPORT_JOB_LIFETIME = timedelta(days=7)  # after it finished; then its key can be used again
LOST_REPORT_PERIOD = timedelta(days=1)  # then a job without a file, or a file without a job, is lost

MAX_OCCURRENCES = 10_000  # stored for one finding; further ones are only counted

# Decisions about findings
TRIAGE_BATCH = 500

PRUNE_BATCH = 1_000
