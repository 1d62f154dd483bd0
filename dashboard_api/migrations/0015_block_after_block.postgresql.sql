-- A block is asked by itself: of the words that must occur together, GIN then follows the rare one and skips in
-- the others. The first blocks come one after the other, because the newest of a severity is seldom full and
-- promises too little; then as many as promise the rest.
CREATE OR REPLACE FUNCTION dashboard_api_search(site bigint, level smallint, sought text, bound integer)
RETURNS TABLE (id bigint, severity smallint, source_id bigint, kind varchar)
STABLE LANGUAGE plpgsql SET jit = off AS $$
DECLARE
    blocks bigint[] := ARRAY(
        SELECT block.id FROM dashboard_api_search_block AS block
        WHERE block.website_id = site AND block.severity = coalesce(level, block.severity)
        ORDER BY block.severity DESC, block.first_id DESC
    );
    asked integer := 0;
    step integer := 1;
    had integer;
    found integer := 0;
BEGIN
    WHILE found < bound AND asked < cardinality(blocks) LOOP
        RETURN QUERY
            SELECT matching.id, matching.severity, matching.source_id, matching.kind
            FROM unnest(blocks[asked + 1:asked + step]) AS block,
            LATERAL (
                SELECT finding.id, finding.severity, finding.source_id, finding.kind
                FROM dashboard_api_finding AS finding
                WHERE dashboard_api_search_entries(
                    finding.search_block, finding.status, finding.source_id, finding.kind,
                    finding.title, finding.location, finding.rule, finding.cve, finding.description,
                    finding.other_locations
                ) @@ replace(sought, '#', block::text)::tsquery
                OFFSET 0 -- or it could be planned as a join of all
            ) AS matching
            ORDER BY matching.severity DESC, matching.id DESC LIMIT bound - found;
        GET DIAGNOSTICS had = ROW_COUNT;
        found := found + had;
        asked := asked + step;
        IF asked >= 8 THEN
            step := greatest(1, least(8 * asked, (bound - found) * asked / greatest(found, 1)));
        END IF;
    END LOOP;
END
$$;

-- A block has some 4,096 findings: all that match in one are read, half of them too many on average.
CREATE OR REPLACE FUNCTION dashboard_api_search_choose_block() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE newest bigint;
BEGIN
    SELECT id INTO newest FROM dashboard_api_search_block AS block
    WHERE block.website_id = new.website_id AND block.severity = new.severity AND first_id <= new.id
    ORDER BY first_id DESC LIMIT 1;
    -- A new block begins by chance, so that nothing has to be counted.
    IF newest IS NULL OR (tg_op = 'INSERT' AND random() < 1.0 / 4096) THEN
        INSERT INTO dashboard_api_search_block (website_id, severity, first_id)
        VALUES (new.website_id, new.severity, CASE WHEN newest IS NULL THEN 0 ELSE new.id END)
        ON CONFLICT (website_id, severity, first_id) DO UPDATE SET first_id = excluded.first_id
        RETURNING id INTO newest;
    END IF;
    new.search_block := newest;
    RETURN new;
END
$$;
