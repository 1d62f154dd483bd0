CREATE FUNCTION plan_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a used revision of a plan never changes';
END $$

CREATE TRIGGER plan_unchanged BEFORE UPDATE ON dashboard_api_plan
FOR EACH ROW WHEN (OLD.used_at IS NOT NULL AND
(NEW.slug, NEW.revision, NEW.name, NEW.rank, NEW.limits, NEW.features, NEW.trial_days, NEW.price_text, NEW.used_at)
IS DISTINCT FROM
(OLD.slug, OLD.revision, OLD.name, OLD.rank, OLD.limits, OLD.features, OLD.trial_days, OLD.price_text, OLD.used_at))
EXECUTE FUNCTION plan_refuse()

CREATE TRIGGER plan_kept BEFORE DELETE ON dashboard_api_plan
FOR EACH ROW WHEN (OLD.used_at IS NOT NULL) EXECUTE FUNCTION plan_refuse()
