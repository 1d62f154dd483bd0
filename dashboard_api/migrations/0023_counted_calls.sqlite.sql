CREATE VIEW dashboard_api_countedcall AS
SELECT account_id, nonce, expires_at, at, secret_id, link_id, route, request_id, address,
NULL AS day, NULL AS counted, NULL AS now, NULL AS interval, NULL AS pace, NULL AS allowance, NULL AS latest
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
SET calls = dashboard_api_usage.calls + NEW.counted, arrival = max(dashboard_api_usage.arrival, NEW.now)
    + CASE WHEN dashboard_api_usage.calls >= NEW.allowance THEN NEW.pace ELSE NEW.interval END
WHERE dashboard_api_usage.arrival
    <= CASE WHEN dashboard_api_usage.calls >= NEW.allowance THEN NEW.now ELSE NEW.latest END;
END
