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
