CREATE TRIGGER call_record_nonce_unchanged BEFORE UPDATE ON dashboard_api_nonce
FOR EACH ROW WHEN (OLD.account_id <> 0) EXECUTE FUNCTION call_record_refuse()

CREATE TRIGGER call_record_nonce_not_truncated BEFORE TRUNCATE ON dashboard_api_nonce
FOR EACH STATEMENT EXECUTE FUNCTION call_record_refuse()

CREATE FUNCTION call_record_nonce_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM gone
        WHERE at IS NOT NULL
        AND NOT EXISTS (
            SELECT 1 FROM dashboard_api_callrecord AS record
            WHERE record.request_id = gone.request_id AND record.account_id = gone.account_id
        )
        AND NOT EXISTS (
            SELECT 1 FROM dashboard_api_forgottenaccount AS forgotten WHERE forgotten.account_id = gone.account_id
        )
    ) THEN
        RAISE EXCEPTION 'calls on record are never changed, and kept for 180 days';
    END IF;
    RETURN NULL;
END $$

CREATE TRIGGER call_record_nonce_kept AFTER DELETE ON dashboard_api_nonce
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION call_record_nonce_refuse()

CREATE TRIGGER call_record_outcome_unchanged BEFORE UPDATE ON dashboard_api_calloutcome
FOR EACH ROW EXECUTE FUNCTION call_record_refuse()

CREATE TRIGGER call_record_outcome_not_truncated BEFORE TRUNCATE ON dashboard_api_calloutcome
FOR EACH STATEMENT EXECUTE FUNCTION call_record_refuse()

CREATE FUNCTION call_record_outcome_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM gone JOIN dashboard_api_nonce AS nonce USING (account_id, nonce)
        WHERE nonce.at IS NOT NULL
        AND NOT EXISTS (
            SELECT 1 FROM dashboard_api_callrecord AS record
            WHERE record.request_id = nonce.request_id AND record.account_id = nonce.account_id
        )
        AND NOT EXISTS (
            SELECT 1 FROM dashboard_api_forgottenaccount AS forgotten WHERE forgotten.account_id = gone.account_id
        )
    ) THEN
        RAISE EXCEPTION 'calls on record are never changed, and kept for 180 days';
    END IF;
    RETURN NULL;
END $$

CREATE TRIGGER call_record_outcome_kept AFTER DELETE ON dashboard_api_calloutcome
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION call_record_outcome_refuse()

-- Always enabled: so they also refuse rows that arrive by logical replication. There, no search path is set.
ALTER FUNCTION call_record_nonce_refuse() SET search_path FROM CURRENT

ALTER FUNCTION call_record_outcome_refuse() SET search_path FROM CURRENT

ALTER TABLE dashboard_api_nonce ENABLE ALWAYS TRIGGER call_record_nonce_unchanged

ALTER TABLE dashboard_api_nonce ENABLE ALWAYS TRIGGER call_record_nonce_kept

ALTER TABLE dashboard_api_nonce ENABLE ALWAYS TRIGGER call_record_nonce_not_truncated

ALTER TABLE dashboard_api_calloutcome ENABLE ALWAYS TRIGGER call_record_outcome_unchanged

ALTER TABLE dashboard_api_calloutcome ENABLE ALWAYS TRIGGER call_record_outcome_kept

ALTER TABLE dashboard_api_calloutcome ENABLE ALWAYS TRIGGER call_record_outcome_not_truncated
