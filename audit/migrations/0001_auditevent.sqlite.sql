CREATE TRIGGER audit_event_unchanged BEFORE UPDATE ON audit_auditevent
BEGIN SELECT RAISE(ABORT, 'audit events are never changed'); END

CREATE TRIGGER audit_event_kept BEFORE DELETE ON audit_auditevent
WHEN OLD.at > strftime('%Y-%m-%d %H:%M:%S', 'now', '-400 days')
BEGIN SELECT RAISE(ABORT, 'audit events are kept for 400 days'); END

CREATE TRIGGER audit_seal_unchanged BEFORE UPDATE ON audit_auditseal
BEGIN SELECT RAISE(ABORT, 'audit seals are never changed'); END

CREATE TRIGGER audit_seal_kept BEFORE DELETE ON audit_auditseal
BEGIN SELECT RAISE(ABORT, 'audit seals are kept'); END
