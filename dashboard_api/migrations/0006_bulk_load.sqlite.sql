-- A row says that dashboard_api.importing.bulk_insert writes findings, and does the triggers' work for all of them together. It
-- refers to a website that there is not, so no transaction can be committed while it is there.
CREATE TABLE dashboard_api_bulkload (
    unfinished integer PRIMARY KEY REFERENCES dashboard_api_website (id) DEFERRABLE INITIALLY DEFERRED
);

DROP TRIGGER dashboard_api_search_insert;

CREATE TRIGGER dashboard_api_search_insert AFTER INSERT ON dashboard_api_finding
WHEN NOT EXISTS (SELECT 1 FROM dashboard_api_bulkload)
BEGIN
    INSERT INTO dashboard_api_search (rowid, entries) VALUES (new.id, dashboard_api_search_entries(
        new.website_id, new.status, new.severity, new.source_id, new.kind,
        new.title, new.location, new.rule, new.cve, new.description, new.other_locations
    ));
END;
