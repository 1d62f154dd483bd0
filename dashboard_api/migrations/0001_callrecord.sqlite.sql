CREATE TRIGGER call_record_unchanged BEFORE UPDATE ON dashboard_api_callrecord
BEGIN SELECT RAISE(ABORT, 'calls on record are never changed'); END

CREATE TRIGGER call_record_kept BEFORE DELETE ON dashboard_api_callrecord
WHEN OLD.at > strftime('%Y-%m-%d %H:%M:%S', 'now', '-180 days')
AND NOT EXISTS (SELECT 1 FROM dashboard_api_forgottenaccount WHERE account_id = OLD.account_id)
BEGIN SELECT RAISE(ABORT, 'calls on record are kept for 180 days'); END
