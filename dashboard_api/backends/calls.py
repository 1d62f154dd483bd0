"""SQL that spends a nonce, counts and limits the calls of an account, and keeps calls on record."""


def _named_placeholders(columns: str) -> str:
    """Return a named placeholder for each column."""
    return ", ".join(f"%({column})s" for column in columns.split(", "))


# Columns that are copied from the nonce of a call to its record.
FACTS = "at, account_id, secret_id, link_id, route, request_id, address"

_NONCE_COLUMNS = "account_id, nonce, expires_at, at, secret_id, link_id, route, request_id, address"
# A nonce without an account, which refuses all calls until it expires (``raise_fence``).
_FENCED = """
SELECT 1 FROM dashboard_api_nonce WHERE account_id = 0 AND nonce = 'fence' AND expires_at >= %(expires_at)s
"""
CLAIM = f"""
INSERT INTO dashboard_api_nonce ({_NONCE_COLUMNS})
SELECT {_named_placeholders(_NONCE_COLUMNS)}
WHERE NOT EXISTS ({_FENCED})
ON CONFLICT DO NOTHING
"""  # constant text
# Changes a row only if the nonce is new and the account is within its limits. ``arrival`` is the time, in
# microseconds, until which the calls of the account use up its rate. Its parameters are the ones of CLAIM and
# ``CallLimit.parameters``.
CLAIM_AND_COUNT_POSTGRESQL = f"""
WITH claimed AS ({CLAIM} RETURNING 1)
INSERT INTO dashboard_api_usage AS usage (account_id, day, calls, arrival)
SELECT %(account_id)s, %(day)s::date, %(counted)s, %(now)s + %(interval)s::bigint FROM claimed
ON CONFLICT (account_id, day) DO UPDATE
SET calls = usage.calls + %(counted)s, arrival = GREATEST(usage.arrival, %(now)s) + %(interval)s
WHERE usage.arrival <= %(latest)s AND usage.calls < %(allowance)s
"""  # constant text
# The same on SQLite: a trigger of this view (0001_nonce) spends the nonce and then counts the call.
_COUNTED_COLUMNS = f"{_NONCE_COLUMNS}, day, counted, now, interval, allowance, latest"
CLAIM_AND_COUNT_SQLITE = f"""
INSERT INTO dashboard_api_countedcall ({_COUNTED_COLUMNS}) VALUES ({_named_placeholders(_COUNTED_COLUMNS)})
"""  # constant text

_EXPIRED = "FROM dashboard_api_nonce WHERE expires_at < %(now)s ORDER BY expires_at{more} LIMIT %(batch)s"
# Nonces without a time are not recorded. A call without an outcome was answered with 200.
_RECORD = f"""
INSERT INTO dashboard_api_callrecord ({FACTS}, status, code)
SELECT {FACTS}, COALESCE(status, 200), COALESCE(code, '')
FROM {{expired}} LEFT JOIN {{outcomes}} USING (account_id, nonce) WHERE at IS NOT NULL
"""  # constant text
# By row id, because SQLite would scan the table for the composite key. All statements of PRUNE_SQLITE find
# the same rows.
_IS_EXPIRED = f"rowid IN (SELECT rowid {_EXPIRED.format(more=', rowid')})"
_DELETE_OUTCOMES = f"""
DELETE FROM dashboard_api_calloutcome WHERE (account_id, nonce) IN
(SELECT account_id, nonce FROM dashboard_api_nonce WHERE {_IS_EXPIRED})
"""  # constant text
# To run in one transaction. The row count of the last statement is the number of expired nonces.
PRUNE_SQLITE = (
    _RECORD.format(
        expired=f"(SELECT * FROM dashboard_api_nonce WHERE {_IS_EXPIRED})",
        outcomes="dashboard_api_calloutcome",
    ),
    _DELETE_OUTCOMES,
    f"DELETE FROM dashboard_api_nonce WHERE {_IS_EXPIRED}",
)
PRUNE_POSTGRESQL = f"""
WITH expired AS (
    DELETE FROM dashboard_api_nonce
    WHERE ctid = ANY(ARRAY(SELECT ctid {_EXPIRED.format(more="")} FOR UPDATE SKIP LOCKED))
    RETURNING *
), outcomes AS (
    DELETE FROM dashboard_api_calloutcome AS outcome USING expired
    WHERE outcome.account_id = expired.account_id AND outcome.nonce = expired.nonce RETURNING outcome.*
), recorded AS ({_RECORD.format(expired="expired", outcomes="outcomes")})
SELECT COUNT(*) FROM expired
"""  # constant text
