-- The first blocks by themselves, because the newest of a severity is seldom full and promises too little: what
-- is read too much is at most a block.
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
            SELECT finding.id, finding.severity, finding.source_id, finding.kind
            FROM dashboard_api_finding AS finding
            WHERE dashboard_api_search_entries(
                finding.search_block, finding.status, finding.source_id, finding.kind,
                finding.title, finding.location, finding.rule, finding.cve, finding.description,
                finding.other_locations
            ) @@ (
                SELECT string_agg(replace(sought, '#', block::text), '|')::tsquery
                FROM unnest(blocks[asked + 1:asked + step]) AS block
            )
            ORDER BY finding.severity DESC, finding.id DESC LIMIT bound - found;
        GET DIAGNOSTICS had = ROW_COUNT;
        found := found + had;
        asked := asked + step;
        -- As many as promise the rest.
        IF asked >= 8 THEN
            step := greatest(1, least(8 * asked, (bound - found) * asked / greatest(found, 1)));
        END IF;
    END LOOP;
END
$$;
