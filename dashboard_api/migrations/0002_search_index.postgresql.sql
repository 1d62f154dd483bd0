-- An index of an expression. What it finds has no order, so it is asked for one block after the other: some
-- 8,192 findings of one website and severity, the worst first, and of these the newest.
CREATE TABLE dashboard_api_search_block (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    website_id bigint NOT NULL,
    severity smallint NOT NULL,
    first_id bigint NOT NULL,
    UNIQUE (website_id, severity, first_id)
);

INSERT INTO dashboard_api_search_block (website_id, severity, first_id)
SELECT website_id, severity, CASE WHEN number = 1 THEN 0 ELSE id END
FROM (
    SELECT website_id, severity, id, row_number() OVER (PARTITION BY website_id, severity ORDER BY id)
    FROM dashboard_api_finding
) AS numbered (website_id, severity, id, number)
WHERE number % 8192 = 1;

-- The database's own: no writer has to know it.
ALTER TABLE dashboard_api_finding ADD COLUMN search_block bigint NOT NULL DEFAULT 0;

CREATE FUNCTION dashboard_api_search_choose_block() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE newest bigint;
BEGIN
    SELECT id INTO newest FROM dashboard_api_search_block AS block
    WHERE block.website_id = new.website_id AND block.severity = new.severity AND first_id <= new.id
    ORDER BY first_id DESC LIMIT 1;
    -- A new block begins by chance, so that nothing has to be counted.
    IF newest IS NULL OR (tg_op = 'INSERT' AND random() < 1.0 / 8192) THEN
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

UPDATE dashboard_api_finding SET search_block = -1;

CREATE FUNCTION dashboard_api_search_entries(
    block bigint, status text, source_id bigint, kind text,
    title text, location text, rule text, cve jsonb, description text, other_locations text
) RETURNS tsvector IMMUTABLE COST 10000 LANGUAGE sql AS $$
SELECT array_to_tsvector(
    ARRAY[scope || 's' || source_id, scope || 'k' || kind] || ARRAY(
        SELECT scope || '.' || left(word, 200)
        FROM regexp_split_to_table(folded COLLATE "und-x-icu", '[^[:alnum:]]+') AS word
        WHERE word <> ''
    )
)
FROM (
    SELECT left(status, 2) || block,
    left(
        title || ' ' || location || ' ' || rule || ' ' || cve || ' ' || description || ' ' || other_locations, 12000
    )
) AS given (scope, searched),
LATERAL (
    SELECT CASE
        WHEN octet_length(searched) = length(searched) THEN lower(searched COLLATE "und-x-icu")
        ELSE replace(translate(regexp_replace(
            lower(normalize(searched, NFKD) COLLATE "und-x-icu"),
            '[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a'
            '\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]',
            '', 'g'
        ), 'ς', 'σ'), 'ß', 'ss')
    END
) AS made (folded)
$$;

CREATE INDEX dashboard_api_finding_search ON dashboard_api_finding
USING gin (dashboard_api_search_entries(
    search_block, status, source_id, kind, title, location, rule, cve, description, other_locations
)) WITH (gin_pending_list_limit = 2048);

-- Nothing is planned by statistics of the entries.
ALTER INDEX dashboard_api_finding_search ALTER COLUMN 1 SET STATISTICS 0;

CREATE FUNCTION dashboard_api_search(site bigint, level smallint, sought text, bound integer)
RETURNS TABLE (id bigint, severity smallint, source_id bigint, kind varchar)
STABLE LANGUAGE plpgsql SET jit = off AS $$
DECLARE
    blocks bigint[] := ARRAY(
        SELECT block.id FROM dashboard_api_search_block AS block
        WHERE block.website_id = site AND block.severity = coalesce(level, block.severity)
        ORDER BY block.severity DESC, block.first_id DESC
    );
    start integer := 1;
    step integer := 1;
    had integer;
BEGIN
    WHILE bound > 0 AND start <= cardinality(blocks) LOOP
        RETURN QUERY
            SELECT finding.id, finding.severity, finding.source_id, finding.kind
            FROM dashboard_api_finding AS finding
            WHERE dashboard_api_search_entries(
                finding.search_block, finding.status, finding.source_id, finding.kind,
                finding.title, finding.location, finding.rule, finding.cve, finding.description,
                finding.other_locations
            ) @@ (
                SELECT string_agg(replace(sought, '#', block::text), '|')::tsquery
                FROM unnest(blocks[start:start + step - 1]) AS block
            )
            ORDER BY finding.severity DESC, finding.id DESC LIMIT bound;
        GET DIAGNOSTICS had = ROW_COUNT;
        bound := bound - had;
        start := start + step;
        -- As many blocks as promise the rest.
        step := least(8 * step, 1 + bound * step / greatest(had, 1));
    END LOOP;
END
$$;
