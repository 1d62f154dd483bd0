"""Limits of the contract: what a request may ask for, and how much a response can have."""

MAX_ACCOUNT_REF_LENGTH = 128
MAX_REASON_LENGTH = 500

DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 100
MAX_PAGE_DEPTH = 10_000  # page * page_size
MAX_QUERY_LENGTH = 200
MAX_FILTER_VALUES = 20  # of one filter
MAX_SINCE_DAYS = 366
MAX_PROBLEM_ID_LENGTH = 64
MAX_PROBLEM_HOSTS = 5
MAX_LOCATIONS = 100

MAX_CHANGES = 50  # findings and notes of a response, each
MAX_COUNTED_CHANGES = 200  # new findings of each severity
MAX_REGRESSIONS = 10_000
MAX_CHANGES_DAYS = 31
MAX_CURSOR_LENGTH = 1_500

DEFAULT_CALLS = 100  # of one page
MAX_CALLS = 1_000

SCAN_START_HOUR = 2  # of a schedule, in the owner's time zone
SCAN_HOURS = 4

MAX_RESPONSE_BYTES = 2 * 1024 * 1024
