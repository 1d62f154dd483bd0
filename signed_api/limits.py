"""Limits of the contract: what a request may ask for, and how much a response can have."""

MAX_ACCOUNT_REF_LENGTH = 128
MAX_REASON_LENGTH = 500  # of a reason that a request gives

# The dashboard and other lists
DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 100
MAX_PAGE_DEPTH = 10_000  # page * page_size
MAX_QUERY_LENGTH = 200  # of the words to search
MAX_FILTER_VALUES = 20  # of one filter
MAX_SINCE_DAYS = 366  # in since, older_than and fixed_since
MAX_PROBLEM_ID_LENGTH = 64
MAX_PROBLEM_HOSTS = 5  # listed for a problem
MAX_LOCATIONS = 100  # listed for a single finding

# The changes of a website
MAX_CHANGES = 50  # findings and notes of a response, each
MAX_COUNTED_CHANGES = 200  # new findings of each severity
MAX_REGRESSIONS = 10_000  # counted
MAX_CHANGES_DAYS = 31  # in days
MAX_CURSOR_LENGTH = 1_500

# Calls of an account on one page
DEFAULT_CALLS = 100
MAX_CALLS = 1_000

# The default window of a schedule: from this hour in the owner's time zone, for so many hours
SCAN_START_HOUR = 2
SCAN_HOURS = 4

MAX_RESPONSE_BYTES = 2 * 1024 * 1024  # a client reads no more

# Answers to findings, and messages
MAX_PERSON_LENGTH = 64  # of a reference of a person
MAX_NAME_LENGTH = 100  # that someone types on a share link
MAX_ANSWER_TEXT = 2_000  # characters of a reason and of evidence, each
MIN_DISPUTE_REASON = 20  # characters
MAX_ACCEPTED_DAYS = 365
MAX_FIX_DAYS = 365  # in which findings of a severity must be fixed
MAX_ANSWERED_AT_ONCE = 5_000  # findings
MAX_CHOSEN_FINDINGS = 100  # listed one by one
MAX_MESSAGE_LENGTH = 4_000  # characters
MAX_MESSAGES = 100  # of a finding in a response, the latest
MAX_PAST_ANSWERS = 16  # of a finding in a response, the latest
MAX_OPEN_DISPUTES = 200  # of an account
MAX_ASSIGNEES = 100  # in the filter by assignee
MAX_REQUEST_KEY_LENGTH = 64

# What scans saw of a website
MAX_DAYS_AHEAD = 3_660  # of last days
MAX_CERTIFICATES = 50  # kept for a website, the newest
MAX_CERTIFICATE_NAMES = 40  # of a certificate
MAX_SCRIPTS = 200  # kept for a website
MAX_SCRIPT_URL = 2_000  # characters
