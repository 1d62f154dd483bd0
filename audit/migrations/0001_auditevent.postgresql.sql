CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'audit events and seals are never changed, and kept for 400 days'; END $$

CREATE TRIGGER audit_event_unchanged BEFORE UPDATE ON audit_auditevent
FOR EACH ROW EXECUTE FUNCTION audit_refuse()

CREATE TRIGGER audit_event_kept BEFORE DELETE ON audit_auditevent
FOR EACH ROW WHEN (OLD.at > now() - interval '400 days') EXECUTE FUNCTION audit_refuse()

CREATE TRIGGER audit_event_not_truncated BEFORE TRUNCATE ON audit_auditevent
FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()

CREATE TRIGGER audit_seal_kept BEFORE UPDATE OR DELETE ON audit_auditseal
FOR EACH ROW EXECUTE FUNCTION audit_refuse()

CREATE TRIGGER audit_seal_not_truncated BEFORE TRUNCATE ON audit_auditseal
FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()

-- Always enabled: so they also refuse rows that arrive by logical replication.
ALTER TABLE audit_auditevent ENABLE ALWAYS TRIGGER audit_event_unchanged

ALTER TABLE audit_auditevent ENABLE ALWAYS TRIGGER audit_event_kept

ALTER TABLE audit_auditevent ENABLE ALWAYS TRIGGER audit_event_not_truncated

ALTER TABLE audit_auditseal ENABLE ALWAYS TRIGGER audit_seal_kept

ALTER TABLE audit_auditseal ENABLE ALWAYS TRIGGER audit_seal_not_truncated
