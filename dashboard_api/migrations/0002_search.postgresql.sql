-- Half of each page stays free, so that a finding that is seen again is updated on its own page.
ALTER TABLE dashboard_api_finding SET (fillfactor = 50);

-- The search index is an index of an expression. A GIN index returns matches in no order, so a search reads it part
-- by part. A block has 8 parts of about 1,024 findings of one website and severity, the oldest first. A part has up
-- to 8 slices, the rows of this table, numbered in the order in which they begin: id / 8 is the number of the part,
-- id / 64 the number of the block.
CREATE TABLE dashboard_api_search_block (
    id bigint PRIMARY KEY,
    website_id bigint NOT NULL,
    severity smallint NOT NULL,
    first_id bigint NOT NULL,
    UNIQUE (website_id, severity, first_id)
);

CREATE INDEX dashboard_api_search_block_first ON dashboard_api_search_block (website_id, severity, first_id)
INCLUDE (id) WHERE id % 64 = 0;

CREATE SEQUENCE dashboard_api_search_block_number OWNED BY dashboard_api_search_block.id;

-- The database fills this column; no writer knows it.
ALTER TABLE dashboard_api_finding ADD COLUMN search_block bigint NOT NULL DEFAULT 0;

CREATE FUNCTION dashboard_api_search_choose_block() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    newest bigint;
    next bigint;
BEGIN
    LOOP
        SELECT id INTO newest FROM dashboard_api_search_block AS slice
        WHERE slice.website_id = new.website_id AND slice.severity = new.severity AND first_id <= new.id
        ORDER BY first_id DESC LIMIT 1;
        -- A new slice begins by chance, so that nothing has to be counted; eight of them make parts of like size.
        EXIT WHEN newest IS NOT NULL AND (tg_op = 'UPDATE' OR random() > 1.0 / 128);
        next := newest + 1;
        IF newest IS NULL OR next % 64 = 0 THEN
            next := 64 * nextval('dashboard_api_search_block_number');
        END IF;
        INSERT INTO dashboard_api_search_block (id, website_id, severity, first_id)
        VALUES (next, new.website_id, new.severity, CASE WHEN newest IS NULL THEN 0 ELSE new.id END)
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            newest := next;
            EXIT;
        END IF; -- somebody else began it
    END LOOP;
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
    block bigint, status text, source_id bigint, kind text,
    title text, location text, rule text, cve jsonb, description text, other_locations text
) RETURNS tsvector IMMUTABLE COST 10000 LANGUAGE plpgsql AS $$
DECLARE
    scope text := left(status, 2) || block / 64;
    filters text := scope || 's' || source_id || ' ' || scope || 'k' || kind || ' ' || block / 8;
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
    search_block, status, source_id, kind, title, location, rule, cve, description, other_locations
)) WITH (gin_pending_list_limit = 8192);

-- Nothing is planned by statistics of the entries.
ALTER INDEX dashboard_api_finding_search ALTER COLUMN 1 SET STATISTICS 0;

-- Of the worst severity two parts are asked at first: what they hold tells how many promise the rest. Another
-- severity begins with as many as those before it promise, but no more than a block: it may be quite unlike them.
CREATE FUNCTION dashboard_api_search(site bigint, level smallint, sought text, bound integer)
RETURNS TABLE (id bigint, severity smallint, source_id bigint, kind varchar)
STABLE LANGUAGE plpgsql SET jit = off AS $$
DECLARE
    blocks bigint[]; -- of a severity, the newest first; each has 8 places
    block bigint;
    parts bigint[]; -- of a block, the newest first; then those that are asked now, or were before
    missing integer; -- places of the newest block that have no part yet
    asked integer; -- places, the missing ones among them
    upto integer;
    expression text;
    had integer;
    matched integer; -- in this severity
    found integer := 0; -- in all
    through integer := 0; -- parts of the severities before
BEGIN
    FOR blocks, missing IN
        SELECT array_agg(oldest.id / 64 ORDER BY first_id DESC), (
            SELECT 7 - newest.id / 8 % 8 FROM dashboard_api_search_block AS newest
            WHERE newest.website_id = site AND newest.severity = oldest.severity ORDER BY first_id DESC LIMIT 1
        )
        FROM dashboard_api_search_block AS oldest
        WHERE oldest.website_id = site AND oldest.severity = coalesce(level, oldest.severity) AND oldest.id % 64 = 0
        GROUP BY oldest.severity ORDER BY oldest.severity DESC
    LOOP
        asked := missing;
        upto := missing + 2;
        IF through > 0 THEN
            upto := greatest(upto, least(8, missing + (bound - found) * through / greatest(found, 1)));
        END IF;
        matched := 0;
        LOOP
            upto := least(upto, 8 * cardinality(blocks));
            expression := '';
            FOR place IN asked / 8..(upto - 1) / 8 LOOP
                block := blocks[place + 1];
                parts := ARRAY[
                    8 * block + 7, 8 * block + 6, 8 * block + 5, 8 * block + 4,
                    8 * block + 3, 8 * block + 2, 8 * block + 1, 8 * block
                ];
                expression := expression || '|(' || replace(sought, '#', block::text) || ')';
                IF upto < 8 * place + 8 THEN
                    parts := parts[greatest(asked - 8 * place, 0) + 1:upto - 8 * place];
                    expression := expression || '&(' || array_to_string(parts, '|') || ')';
                ELSIF asked > greatest(missing, 8 * place) THEN
                    parts := parts[greatest(missing - 8 * place, 0) + 1:asked - 8 * place];
                    expression := expression || '&!(' || array_to_string(parts, '|') || ')';
                END IF;
            END LOOP;
            RETURN QUERY
                SELECT finding.id, finding.severity, finding.source_id, finding.kind
                FROM dashboard_api_finding AS finding
                WHERE dashboard_api_search_entries(
                    finding.search_block, finding.status, finding.source_id, finding.kind,
                    finding.title, finding.location, finding.rule, finding.cve, finding.description,
                    finding.other_locations
                ) @@ substr(expression, 2)::tsquery
                ORDER BY finding.severity DESC, finding.id DESC LIMIT bound - found;
            GET DIAGNOSTICS had = ROW_COUNT;
            found := found + had;
            matched := matched + had;
            asked := upto;
            EXIT WHEN found = bound OR asked = 8 * cardinality(blocks);
            upto := asked + least(
                1 + (bound - found) * (asked - missing) / greatest(matched, 1),
                least(64 * (asked / 8) + 8, 64) - asked % 8
            );
        END LOOP;
        EXIT WHEN found = bound;
        through := through + asked - missing;
    END LOOP;
END
$$;
