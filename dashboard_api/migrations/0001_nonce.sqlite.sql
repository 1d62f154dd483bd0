CREATE TRIGGER call_record_nonce_unchanged BEFORE UPDATE ON dashboard_api_nonce
WHEN OLD.account_id <> 0
BEGIN SELECT RAISE(ABORT, 'calls on record are never changed'); END

CREATE TRIGGER call_record_nonce_kept BEFORE DELETE ON dashboard_api_nonce
WHEN OLD.at IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM dashboard_api_callrecord WHERE request_id = OLD.request_id AND account_id = OLD.account_id)
AND NOT EXISTS (SELECT 1 FROM dashboard_api_forgottenaccount WHERE account_id = OLD.account_id)
BEGIN SELECT RAISE(ABORT, 'calls on record are kept for 180 days'); END

CREATE TRIGGER call_record_outcome_unchanged BEFORE UPDATE ON dashboard_api_calloutcome
BEGIN SELECT RAISE(ABORT, 'calls on record are never changed'); END

CREATE TRIGGER call_record_outcome_kept BEFORE DELETE ON dashboard_api_calloutcome
WHEN EXISTS (
    SELECT 1 FROM dashboard_api_nonce AS nonce
    WHERE nonce.account_id = OLD.account_id AND nonce.nonce = OLD.nonce AND nonce.at IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM dashboard_api_callrecord AS record
        WHERE record.request_id = nonce.request_id AND record.account_id = nonce.account_id
    )
)
AND NOT EXISTS (SELECT 1 FROM dashboard_api_forgottenaccount WHERE account_id = OLD.account_id)
BEGIN SELECT RAISE(ABORT, 'calls on record are kept for 180 days'); END

CREATE VIEW dashboard_api_countedcall AS
SELECT account_id, nonce, expires_at, at, secret_id, link_id, route, request_id, address,
NULL AS day, NULL AS counted, NULL AS now, NULL AS interval, NULL AS allowance, NULL AS latest
FROM dashboard_api_nonce

CREATE TRIGGER counted_call INSTEAD OF INSERT ON dashboard_api_countedcall
BEGIN
INSERT INTO dashboard_api_nonce
(account_id, nonce, expires_at, at, secret_id, link_id, route, request_id, address)
SELECT NEW.account_id, NEW.nonce, NEW.expires_at, NEW.at, NEW.secret_id, NEW.link_id, NEW.route, NEW.request_id,
NEW.address
WHERE NOT EXISTS (
    SELECT 1 FROM dashboard_api_nonce WHERE account_id = 0 AND nonce = 'fence' AND expires_at >= NEW.expires_at
)
ON CONFLICT DO NOTHING;
INSERT INTO dashboard_api_usage (account_id, day, calls, arrival)
SELECT NEW.account_id, NEW.day, NEW.counted, NEW.now + NEW.interval WHERE changes() = 1
ON CONFLICT (account_id, day) DO UPDATE
SET calls = dashboard_api_usage.calls + NEW.counted,
    arrival = max(dashboard_api_usage.arrival, NEW.now) + NEW.interval
WHERE dashboard_api_usage.arrival <= NEW.latest AND dashboard_api_usage.calls < NEW.allowance;
END
