CREATE TRIGGER plan_unchanged BEFORE UPDATE ON dashboard_api_plan
WHEN OLD.used_at IS NOT NULL AND
(NEW.slug, NEW.revision, NEW.name, NEW.rank, NEW.limits, NEW.features, NEW.trial_days, NEW.price_text, NEW.used_at)
IS NOT
(OLD.slug, OLD.revision, OLD.name, OLD.rank, OLD.limits, OLD.features, OLD.trial_days, OLD.price_text, OLD.used_at)
BEGIN SELECT RAISE(ABORT, 'a used revision of a plan never changes'); END

CREATE TRIGGER plan_kept BEFORE DELETE ON dashboard_api_plan
WHEN OLD.used_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a used revision of a plan never changes'); END
