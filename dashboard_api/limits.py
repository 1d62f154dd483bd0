"""Limits and other numbers, which the specification of the API leaves open, except for MAX_BODY_BYTES."""

from datetime import timedelta

# The signed call
TIMESTAMP_WINDOW_SECONDS = 300  # between the timestamp of a call and our clock, in both directions
NONCE_MARGIN_SECONDS = 60  # a nonce is kept until timestamp + window + margin
MAX_BODY_BYTES = 8192  # of a signed call (specification, section 8)
MAX_JSON_DEPTH = 8  # objects and lists inside each other, in the body of a signed call

# Secrets
MAX_USABLE_SECRETS = 2  # of the customer, and as many for the portal
SECRET_PREFIX = "es1_live_"  # noqa: S105 - a prefix, not a secret
MAX_TEST_SECRETS = 1  # in addition to MAX_USABLE_SECRETS
TEST_SECRET_PREFIX = "es1_test_"  # noqa: S105 - likewise
SECRET_RANDOM_BYTES = 32  # in a new secret or token
MIN_SECRET_LENGTH = 16  # of a secret that was made elsewhere
MAX_SECRET_LENGTH = 512
RETIRING_PERIOD = timedelta(hours=24)  # calls with a retiring secret are still accepted
SECRET_USE_PRECISION = timedelta(minutes=1)  # the last use of a secret or token is stored so often at most

# The rate limit: its defaults are settings, and staff can give an account up to these numbers
MAX_CALLS_PER_SECOND = 9_999
MAX_CALLS_BURST = 9_999  # calls at once, after a pause
MANY_SITES = 20  # accounts that may link more websites get a larger burst
MAX_SLOW_CALLS_AT_ONCE = 2  # in a process, of an account with slow calls; a process has four threads
SLOW_ACCOUNT_RETRY_AFTER_SECONDS = 2  # while an account has MAX_SLOW_CALLS_AT_ONCE

# Calls on record, and their numbers
CALL_RECORD_LIFETIME = timedelta(days=180)  # also written in the triggers that refuse deletion: change both
CLOCK_MARGIN = timedelta(minutes=5)  # calls are deleted so much later: the database's clock may be behind
USAGE_DAYS = 31  # days with their numbers of calls, in the response about an entitlement
NEAR_PERCENT = 80  # customers are warned when they have used this much of a limit
USAGE_LIFETIME = timedelta(days=400)  # of the numbers of calls on a day

# The dashboard
MAX_HOSTS = 50  # shown in the filter by host
MAX_NOTES = 50  # of a website, or of one finding
MAX_EVIDENCE_BYTES = 2 * 1024  # of a finding in the list, and of each location of a single finding
MAX_TEXT_BYTES = 4 * 1024  # of a note, and of each text of a finding in the list
TREND_WEEKS = 13  # in the charts by week
AGE_DAYS = (7, 30, 90, 365)  # upper bounds of the ages of open findings; the fifth age has no bound
RECENT_PERIOD = timedelta(days=7)  # the members new_7d and fixed_7d count findings in it
HISTORY_PERIOD = timedelta(days=90)  # the history of grades begins so long ago

# Problems
MAX_DO_FIRST = 5  # problems that the first page of a dashboard shows as the ones to solve first
MAX_PROBLEM_SAMPLES = 5  # findings read to describe a problem, for each severity
MAX_FIX_LENGTH = 300  # characters of a fix in one line
MAX_FIX_START = 1_000  # characters of a remediation in which the fix is searched

# A single finding
MAX_WHOLE_TEXT_BYTES = 32 * 1024  # of each text; evidence has MAX_STORED_EVIDENCE_BYTES
MAX_NAMES = 100  # references, CVEs and CWEs of a finding, each
MAX_TIMELINE = 100  # events, the latest ones

# Changes
NEW_LINK_PERIOD = timedelta(days=1)  # after linking: a first cursor is then before the first import
# Notes published so long before a cursor are read again: one may have been saved late, after the cursor.
NOTE_OVERLAP = timedelta(hours=1)

# Claims to websites
CHECK_PAUSE = timedelta(seconds=15)  # between two checks of a claim by hand
CHECKS_AN_HOUR = 30  # of one claim, by hand
# Of all claims of an account, by hand: slow websites delay checks of other accounts.
ACCOUNT_CHECKS_AN_HOUR = 60

# Scans
CRAWLER_RETRY_AFTER_SECONDS = 600  # while all scans are stopped

# Payment callbacks
MAX_CALLBACK_BYTES = 256 * 1024  # of the body

# Cached responses
MAX_CACHED_BYTES = 32 * 1024 * 1024  # of encoded dashboards, in each process
MAX_KEPT_CELLS = 200_000  # in each process, for all websites together: about 60 MB
MAX_KEPT_CELLS_OF_ACCOUNTS = 100_000  # likewise, those that depend on answers of accounts: about 30 MB

# Entitlement: calls are answered during the days of grace
PAST_DUE_GRACE = timedelta(days=7)  # from the failed payment (past_due_since), even past the plan's last day
RENEWAL_GRACE = timedelta(days=3)  # from the last day of a plan that renews: payments may be reported late
ENTITLEMENT_PERIOD = timedelta(days=365)  # default of a new account

# Retry-After of other 503 responses, such as when a database cannot be reached
RETRY_AFTER_SECONDS = 5

# Time limits of the database, for a response that only reads
STATEMENT_SECONDS = 3  # of each statement on PostgreSQL, and of all statements together on SQLite
LOCK_SECONDS = 2  # of waiting for a lock, on PostgreSQL
SLOW_REQUEST_RETRY_AFTER_SECONDS = 30  # after STATEMENT_SECONDS; no page waits so long to repeat a request

# Reports
MAX_STORED_EVIDENCE_BYTES = 64 * 1024  # of each location
MAX_OTHER_LOCATIONS = 50  # locations of a finding that a search finds, in addition to the first
MAX_REPORT_BYTES = 4 * 1024 * 1024 * 1024  # of JSON lines
MAX_LINE_BYTES = 16 * 1024 * 1024  # of each JSON line
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024  # of a report that is one document, not lines
MAX_GZIP_RATIO = 200  # unpacked size to packed size; checked above MAX_DOCUMENT_BYTES
MAX_DECODED_BYTES = 16 * 1024 * 1024  # of a document that is read into memory as a whole
MAX_DOCUMENT_VALUES = 4_000_000  # in a document or a line, counted by commas and brackets
MAX_BAD_ROWS = 10_000  # so many rows without a valid one refuse the report
MAX_SARIF_RESULTS = 5_000  # of a file, as at GitHub
MAX_SCANNERS = 100  # of a website: reports can add scanners, and all accounts share the table of scanners
MAX_SARIF_PARTS = 50  # tools and categories in a file: each is a report, and can add a scanner
# What reading a report may cost: a fixed part, and a part for each MB or byte of its length
READ_SECONDS, READ_SECONDS_A_MB = 60, 2  # processor time
STAGED_MB, STAGED_FOR_EACH_BYTE = 256, 16  # temporary disk space: MB, and bytes for each byte
MAX_OCCURRENCES = 10_000  # stored for one finding; further ones are only counted

MAX_UPLOAD_BYTES = 32 * 1024 * 1024  # in the admin; import_report accepts larger files
REMEMBERED_CALL_LIFETIME = timedelta(days=7)  # so long, a repeated request_key gets the same response
UPLOAD_LIFETIME = timedelta(days=1)  # then an upload that was not imported is deleted
INBOX_SETTLE_SECONDS = 60  # a file that changed more recently may be incomplete
UNDO_LIFETIME = timedelta(days=30)  # so long after an import, it can be taken back
MAX_STORED_REJECTS = 1_000  # of each import run
MAX_CATEGORY_LENGTH = 200  # of a report

# Reports over HTTP
TOKEN_PREFIX = "rpt_"  # noqa: S105 - a prefix, not a secret
TOKEN_LIFETIME = timedelta(days=365)  # default in the form
MAX_TOKEN_LIFETIME = timedelta(days=2 * 366)
MAX_SENT_REPORT_BYTES = 1024**3  # JSON lines, packed and unpacked; for documents see MAX_DOCUMENT_BYTES
MAX_IDEMPOTENCY_KEY_LENGTH = 200
MAX_UNFINISHED_REPORTS = 3  # of an account
# The built-in engines: a token must name them to send their reports.
OWN_SOURCES = {"essentials", "dns", "exposed-files", "scripts"}
MAX_SENT_BYTES_A_DAY = 4 * 1024**3  # of an account, unpacked; only bytes that were read count
EXTRA_BYTES_A_REPORT = 1024**2  # each report of the day counts so much more: even a refused one leaves rows
MAX_REPORTS_AT_ONCE = 2  # received or waited for by a process: its other threads are for calls
REPORT_WAIT_SECONDS = 10  # then the response is 202
REPORT_RETRY_AFTER_SECONDS = 15
MAX_REPORT_ATTEMPTS = 3  # a process can die while it imports a report
REPORT_JOB_LIFETIME = timedelta(days=7)  # after it finished; then its key can be used again
LOST_REPORT_PERIOD = timedelta(days=1)  # then a job without a file, or a file without a job, is lost

# Batches
TRIAGE_BATCH = 500  # findings that a decision, or its end, changes at once
PRUNE_BATCH = 1_000  # rows that the command prune deletes or moves in one statement, by default
