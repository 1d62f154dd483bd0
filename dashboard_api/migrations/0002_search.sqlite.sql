-- Counts of findings, maintained by triggers (dashboard_api/backends/sqlite.py). Without a rowid a count
-- is stored in the tree of its key, so a sum reads one tree instead of two.
CREATE TABLE dashboard_api_bucketcount (
    website_id bigint NOT NULL,
    status varchar(14) NOT NULL,
    source_id bigint NOT NULL,
    severity smallint NOT NULL,
    kind varchar(13) NOT NULL,
    findings integer NOT NULL,
    PRIMARY KEY (website_id, status, source_id, severity, kind)
) WITHOUT ROWID;

CREATE TABLE dashboard_api_hostcount (
    website_id bigint NOT NULL,
    status varchar(14) NOT NULL,
    host varchar(253) NOT NULL,
    severity smallint NOT NULL,
    source_id bigint NOT NULL,
    kind varchar(13) NOT NULL,
    findings integer NOT NULL,
    PRIMARY KEY (website_id, status, host, severity, source_id, kind)
) WITHOUT ROWID;

CREATE TABLE dashboard_api_weekcount (
    website_id bigint NOT NULL,
    week date NOT NULL,
    source_id bigint NOT NULL,
    severity smallint NOT NULL,
    kind varchar(13) NOT NULL,
    found integer NOT NULL,
    fixed integer NOT NULL,
    PRIMARY KEY (website_id, week, source_id, severity, kind)
) WITHOUT ROWID;

CREATE TABLE dashboard_api_daycount (
    website_id bigint NOT NULL,
    day date NOT NULL,
    found integer NOT NULL,
    fixed integer NOT NULL,
    still_open integer NOT NULL,
    PRIMARY KEY (website_id, day)
) WITHOUT ROWID;

-- A page of problems reads them worst first.
CREATE TABLE dashboard_api_problemcount (
    website_id bigint NOT NULL,
    status varchar(14) NOT NULL,
    severity smallint NOT NULL,
    problem varchar(16) NOT NULL,
    source_id bigint NOT NULL,
    confirmed integer NOT NULL,
    suspected integer NOT NULL,
    informational integer NOT NULL,
    locations integer NOT NULL,
    PRIMARY KEY (website_id, status, severity, problem, source_id)
) WITHOUT ROWID;

CREATE INDEX dashboard_api_daycount_open ON dashboard_api_daycount (website_id, day) WHERE still_open > 0;

-- A row means that dashboard_api.importing.bulk_insert writes findings and does the work of the triggers for all of them at once.
-- The row refers to a website that does not exist, so no transaction can be committed while the row exists.
CREATE TABLE dashboard_api_bulkload (
    unfinished integer PRIMARY KEY REFERENCES dashboard_api_website (id) DEFERRABLE INITIALLY DEFERRED
);

-- A full-text table of index entries, without texts of its own. Triggers update it with every change of a finding;
-- dashboard_api.queries.search gives each connection the function that makes the entries.
CREATE VIRTUAL TABLE dashboard_api_search
USING fts5(entries, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '.-_*:'");

CREATE VIRTUAL TABLE dashboard_api_search_vocabulary USING fts5vocab(dashboard_api_search, instance);

-- Memory for the entries of a whole import, so that they are written once and in order.
INSERT INTO dashboard_api_search (dashboard_api_search, rank) VALUES ('hashsize', 16777216);

CREATE TRIGGER dashboard_api_search_insert AFTER INSERT ON dashboard_api_finding
WHEN NOT EXISTS (SELECT 1 FROM dashboard_api_bulkload)
BEGIN
    INSERT INTO dashboard_api_search (rowid, entries) VALUES (new.id, dashboard_api_search_entries(
        new.website_id, new.status, new.severity, new.source_id, new.kind, new.problem, new.host,
        new.title, new.location, new.rule, new.cve, new.description, new.other_locations
    ));
END;

CREATE TRIGGER dashboard_api_search_delete AFTER DELETE ON dashboard_api_finding
BEGIN
    INSERT INTO dashboard_api_search (dashboard_api_search, rowid, entries)
    VALUES ('delete', old.id, dashboard_api_search_entries(
        old.website_id, old.status, old.severity, old.source_id, old.kind, old.problem, old.host,
        old.title, old.location, old.rule, old.cve, old.description, old.other_locations
    ));
END;

CREATE TRIGGER dashboard_api_search_update
AFTER UPDATE OF
    id, website_id, status, severity, source_id, kind, problem, host,
    title, location, rule, cve, description, other_locations
ON dashboard_api_finding
WHEN (
    old.id, old.website_id, old.status, old.severity, old.source_id, old.kind, old.problem, old.host,
    old.title, old.location, old.rule, old.cve, old.description, old.other_locations
) IS NOT (
    new.id, new.website_id, new.status, new.severity, new.source_id, new.kind, new.problem, new.host,
    new.title, new.location, new.rule, new.cve, new.description, new.other_locations
)
BEGIN
    INSERT INTO dashboard_api_search (dashboard_api_search, rowid, entries)
    VALUES ('delete', old.id, dashboard_api_search_entries(
        old.website_id, old.status, old.severity, old.source_id, old.kind, old.problem, old.host,
        old.title, old.location, old.rule, old.cve, old.description, old.other_locations
    ));
    INSERT INTO dashboard_api_search (rowid, entries) VALUES (new.id, dashboard_api_search_entries(
        new.website_id, new.status, new.severity, new.source_id, new.kind, new.problem, new.host,
        new.title, new.location, new.rule, new.cve, new.description, new.other_locations
    ));
END;
