-- Every question finds the same as before, so the index stays as it is. Nearly every text is short and ASCII:
-- only its punctuation is replaced by a regular expression. A word of more than 200 letters stays whole there,
-- which no question is long enough to notice.
CREATE OR REPLACE FUNCTION dashboard_api_search_entries(
    block bigint, status text, source_id bigint, kind text,
    title text, location text, rule text, cve jsonb, description text, other_locations text
) RETURNS tsvector IMMUTABLE COST 10000 LANGUAGE plpgsql AS $$
DECLARE
    scope text := left(status, 2) || block;
    filters text := scope || 's' || source_id || ' ' || scope || 'k' || kind;
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
