-- Counts of findings, maintained by triggers (dashboard_api/backends/postgresql.py).
CREATE TABLE dashboard_api_bucketcount (
    website_id bigint NOT NULL,
    status varchar(14) NOT NULL,
    source_id bigint NOT NULL,
    severity smallint NOT NULL,
    kind varchar(13) NOT NULL,
    findings integer NOT NULL,
    PRIMARY KEY (website_id, status, source_id, severity, kind)
);

CREATE TABLE dashboard_api_hostcount (
    website_id bigint NOT NULL,
    status varchar(14) NOT NULL,
    host varchar(253) NOT NULL,
    severity smallint NOT NULL,
    source_id bigint NOT NULL,
    kind varchar(13) NOT NULL,
    findings integer NOT NULL,
    PRIMARY KEY (website_id, status, host, severity, source_id, kind)
);

CREATE TABLE dashboard_api_weekcount (
    website_id bigint NOT NULL,
    week date NOT NULL,
    source_id bigint NOT NULL,
    severity smallint NOT NULL,
    kind varchar(13) NOT NULL,
    found integer NOT NULL,
    fixed integer NOT NULL,
    PRIMARY KEY (website_id, week, source_id, severity, kind)
);

CREATE TABLE dashboard_api_daycount (
    website_id bigint NOT NULL,
    day date NOT NULL,
    found integer NOT NULL,
    fixed integer NOT NULL,
    still_open integer NOT NULL,
    PRIMARY KEY (website_id, day)
);

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
);

CREATE INDEX dashboard_api_daycount_open ON dashboard_api_daycount (website_id, day) WHERE still_open > 0;

-- Half of each page stays free, so that a finding that is seen again is updated on its own page.
ALTER TABLE dashboard_api_finding SET (fillfactor = 50);

-- The search index is an index of an expression. A GIN index returns matches in no order, so a search asks it block
-- by block: a block is some 2,048 findings of one website and severity, which begin with the id first_id.
CREATE TABLE dashboard_api_search_block (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    website_id bigint NOT NULL,
    severity smallint NOT NULL,
    first_id bigint NOT NULL,
    UNIQUE (website_id, severity, first_id)
);

-- The database fills this column; no writer knows it.
ALTER TABLE dashboard_api_finding ADD COLUMN search_block bigint NOT NULL DEFAULT 0;

CREATE FUNCTION dashboard_api_search_choose_block() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE newest bigint;
BEGIN
    SELECT id INTO newest FROM dashboard_api_search_block AS block
    WHERE block.website_id = new.website_id AND block.severity = new.severity AND first_id <= new.id
    ORDER BY first_id DESC LIMIT 1;
    -- A new block begins by chance, so that nothing has to be counted.
    IF newest IS NULL OR (tg_op = 'INSERT' AND random() < 1.0 / 2048) THEN
        INSERT INTO dashboard_api_search_block (website_id, severity, first_id)
        VALUES (new.website_id, new.severity, CASE WHEN newest IS NULL THEN 0 ELSE new.id END)
        ON CONFLICT (website_id, severity, first_id) DO UPDATE SET first_id = excluded.first_id
        RETURNING id INTO newest;
    END IF;
    new.search_block := newest;
    RETURN new;
END
$$;

CREATE TRIGGER dashboard_api_search_insert BEFORE INSERT ON dashboard_api_finding
FOR EACH ROW EXECUTE FUNCTION dashboard_api_search_choose_block();

CREATE TRIGGER dashboard_api_search_update
BEFORE UPDATE OF website_id, severity, search_block ON dashboard_api_finding FOR EACH ROW
WHEN (
    (old.website_id, old.severity, old.search_block)
    IS DISTINCT FROM (new.website_id, new.severity, new.search_block)
)
EXECUTE FUNCTION dashboard_api_search_choose_block();

CREATE FUNCTION dashboard_api_search_entries(
    block bigint, status text, source_id bigint, kind text, problem text, host text,
    title text, location text, rule text, cve jsonb, description text, other_locations text
) RETURNS tsvector IMMUTABLE COST 10000 LANGUAGE plpgsql AS $$
DECLARE
    scope text := left(status, 2) || block;
    filters text := scope || 's' || source_id || ' ' || scope || 'k' || kind || ' ' || scope || 'p' || problem
        || ' ' || scope || 'h' || host;
    searched text :=
        title || ' ' || location || ' ' || rule || ' ' || cve || ' ' || description || ' ' || other_locations;
    folded text;
BEGIN
    IF octet_length(searched) > 12000 THEN
        searched := left(searched, 12000);
    END IF;
    IF octet_length(searched) = length(searched)
        AND (length(searched) <= 2000 OR searched COLLATE "C" !~ '[a-zA-Z0-9]{201}')
    THEN
        RETURN array_to_tsvector(array_remove(string_to_array(filters || replace(
            ' ' || regexp_replace(lower(searched COLLATE "C"), '[^a-z0-9 ]+', ' ', 'g'), ' ', ' ' || scope || '.'
        ), ' '), scope || '.'));
    END IF;
    folded := replace(translate(regexp_replace(
        lower(normalize(searched, NFKD) COLLATE "und-x-icu"),
        '[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a'
        '\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]',
        '', 'g'
    ), 'ς', 'σ'), 'ß', 'ss');
    RETURN array_to_tsvector(string_to_array(filters, ' ') || ARRAY(
        SELECT scope || '.' || left(word, 200)
        FROM regexp_split_to_table(folded COLLATE "und-x-icu", '[^[:alnum:]]+') AS word
        WHERE word <> ''
    ));
END
$$;

CREATE INDEX dashboard_api_finding_search ON dashboard_api_finding
USING gin (dashboard_api_search_entries(
    search_block, status, source_id, kind, problem, host, title, location, rule, cve,
    description, other_locations
)) WITH (gin_pending_list_limit = 8192);

-- A GIN index puts new entries into a list first, all of which every search would read. To insert them at once
-- (fastupdate = off) takes an import twice the time, so every statement that writes merges the list when it ends.
-- Only the owner of the index may, so the function has the owner's rights, and calls nothing that others made.
CREATE FUNCTION dashboard_api_search_merge() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM gin_clean_pending_list(format('%I.dashboard_api_finding_search', tg_table_schema)::regclass);
    RETURN NULL;
END
$$;

CREATE TRIGGER dashboard_api_search_merge AFTER INSERT OR UPDATE ON dashboard_api_finding
FOR EACH STATEMENT EXECUTE FUNCTION dashboard_api_search_merge();

-- Nothing is planned by statistics of the entries.
ALTER INDEX dashboard_api_finding_search ALTER COLUMN 1 SET STATISTICS 0;

-- The blocks of a website with findings above the id "after"; "until" is the first id of the next block.
CREATE FUNCTION dashboard_api_search_blocks(site bigint, levels smallint[], after bigint)
RETURNS TABLE (id bigint, severity smallint, first_id bigint, until bigint) STABLE LANGUAGE sql AS $$
    SELECT * FROM (
        SELECT block.id, block.severity, block.first_id, lead(block.first_id, 1, 9223372036854775807)
            OVER (PARTITION BY block.severity ORDER BY block.first_id) AS until
        FROM dashboard_api_search_block AS block
        WHERE block.website_id = site AND block.severity = ANY (levels)
    ) AS block WHERE block.until > after
$$;

-- The first matches, worst first, at most "bound": findings with ids above "after", first seen at "since" or later.
-- "sought" is a tsquery in which # stands for the block. Where blocks have many matches they are asked one by one, so
-- that few matches are read in vain; where they have few, up to 64 are asked by one statement.
CREATE FUNCTION dashboard_api_search(
    site bigint, levels smallint[], sought text, bound integer, after bigint, since timestamptz
)
RETURNS TABLE (id bigint, severity smallint, source_id bigint, kind varchar, host varchar)
STABLE LANGUAGE plpgsql SET jit = off AS $$
DECLARE
    blocks bigint[] := ARRAY(
        SELECT block.id FROM dashboard_api_search_blocks(site, levels, after) AS block
        ORDER BY block.severity DESC, block.first_id DESC
    );
    start integer := 1;
    step integer := 1;
    had integer;
BEGIN
    WHILE bound > 0 AND start <= cardinality(blocks) LOOP
        RETURN QUERY
            SELECT matching.id, matching.severity, matching.source_id, matching.kind, matching.host
            FROM unnest(blocks[start:start + step - 1]) AS block, LATERAL (
                SELECT finding.id, finding.severity, finding.source_id, finding.kind, finding.host, finding.first_seen
                FROM dashboard_api_finding AS finding
                WHERE dashboard_api_search_entries(
                    finding.search_block, finding.status, finding.source_id, finding.kind, finding.problem, finding.host,
                    finding.title, finding.location, finding.rule, finding.cve, finding.description,
                    finding.other_locations
                ) @@ replace(sought, '#', block::text)::tsquery
                OFFSET 0 -- or it could be planned as a join of all, or by another index
            ) AS matching
            WHERE matching.id > after AND matching.first_seen >= since
            ORDER BY matching.severity DESC, matching.id DESC LIMIT bound;
        GET DIAGNOSTICS had = ROW_COUNT;
        bound := bound - had;
        start := start + step;
        step := greatest(1, least(2 * step, 64, step * 200 / (had + 1)));
    END LOOP;
END
$$;

-- The newest matches of any severity, or the oldest, at most "bound". The blocks of severities overlap: matches are
-- complete up to the edge of the first block that has not been asked. Ids are negative where the newest are first.
CREATE FUNCTION dashboard_api_search_by_id(
    site bigint, levels smallint[], sought text, bound integer, after bigint, since timestamptz, oldest boolean
)
RETURNS TABLE (id bigint) STABLE LANGUAGE plpgsql SET jit = off AS $$
DECLARE
    blocks bigint[];
    edges bigint[];
    found bigint[] := '{}';
    step integer := cardinality(levels);
    start integer := 1;
BEGIN
    SELECT array_agg(block.id ORDER BY edge), array_agg(edge ORDER BY edge) INTO blocks, edges
    FROM dashboard_api_search_blocks(site, levels, after) AS block,
        LATERAL (SELECT CASE WHEN oldest THEN block.first_id ELSE -block.until END AS edge) AS side;
    WHILE start <= cardinality(blocks) LOOP
        found := found || ARRAY(
            SELECT CASE WHEN oldest THEN matching.id ELSE -matching.id END
            FROM unnest(blocks[start:start + step - 1]) AS block, LATERAL (
                SELECT finding.id, finding.first_seen FROM dashboard_api_finding AS finding
                WHERE dashboard_api_search_entries(
                    finding.search_block, finding.status, finding.source_id, finding.kind, finding.problem, finding.host,
                    finding.title, finding.location, finding.rule, finding.cve, finding.description,
                    finding.other_locations
                ) @@ replace(sought, '#', block::text)::tsquery
                OFFSET 0
            ) AS matching
            WHERE matching.id > after AND matching.first_seen >= since
        );
        start := start + step;
        EXIT WHEN (SELECT count(*) FROM unnest(found) AS place WHERE place < edges[start]) >= bound;
    END LOOP;
    RETURN QUERY SELECT abs(place) FROM unnest(found) AS place ORDER BY place LIMIT bound;
END
$$;
