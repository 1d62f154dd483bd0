CREATE FUNCTION call_record_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF EXISTS (SELECT 1 FROM dashboard_api_forgottenaccount WHERE account_id = OLD.account_id) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'calls on record are never changed, and kept for 180 days';
END $$

CREATE TRIGGER call_record_unchanged BEFORE UPDATE ON dashboard_api_callrecord
FOR EACH ROW EXECUTE FUNCTION call_record_refuse()

CREATE TRIGGER call_record_kept BEFORE DELETE ON dashboard_api_callrecord
FOR EACH ROW WHEN (OLD.at > now() - interval '180 days') EXECUTE FUNCTION call_record_refuse()

CREATE TRIGGER call_record_not_truncated BEFORE TRUNCATE ON dashboard_api_callrecord
FOR EACH STATEMENT EXECUTE FUNCTION call_record_refuse()

-- Always enabled: so they also refuse rows that arrive by logical replication. There, no search path is set.
ALTER FUNCTION call_record_refuse() SET search_path FROM CURRENT

ALTER TABLE dashboard_api_callrecord ENABLE ALWAYS TRIGGER call_record_unchanged

ALTER TABLE dashboard_api_callrecord ENABLE ALWAYS TRIGGER call_record_kept

ALTER TABLE dashboard_api_callrecord ENABLE ALWAYS TRIGGER call_record_not_truncated
