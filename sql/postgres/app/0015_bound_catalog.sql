SET LOCAL statement_timeout = '30min';
-- What an import refuses now is cut from what was held before: a schema of more than 64 KiB, a service of more than 1 MiB.
-- An emptied digest lets the next import of the source write the entry anew. Texts of jsonb have blanks, so this cuts a little earlier.
UPDATE app.catalog_entries e
SET digest = '', document = jsonb_set(e.document, '{endpoints}', (
    SELECT jsonb_agg(CASE WHEN octet_length((p -> 'inputSchema')::text) > 65536 THEN p - 'inputSchema' ELSE p END ORDER BY place)
    FROM jsonb_array_elements(e.document -> 'endpoints') WITH ORDINALITY l (p, place)))
WHERE EXISTS (
    SELECT FROM jsonb_array_elements(e.document -> 'endpoints') p WHERE octet_length((p -> 'inputSchema')::text) > 65536);
UPDATE app.catalog_entries e
SET digest = '', document = jsonb_set(e.document, '{endpoints}', (
    SELECT jsonb_agg(p - '{inputSchema,inputExample}'::text[] ORDER BY place)
    FROM jsonb_array_elements(e.document -> 'endpoints') WITH ORDINALITY l (p, place)))
WHERE octet_length(e.document::text) > 1048576;
-- The first endpoint stays whatever it is: its texts are bounded, and a service without one is none.
UPDATE app.catalog_entries e
SET digest = '', document = jsonb_set(e.document, '{endpoints}', (
    SELECT jsonb_agg(p ORDER BY place) FROM (
        SELECT p, place, sum(octet_length(p::text)) OVER (ORDER BY place) AS bytes
        FROM jsonb_array_elements(e.document -> 'endpoints') WITH ORDINALITY l (p, place)) summed
    WHERE place = 1 OR bytes < 1000000))
WHERE octet_length(e.document::text) > 1048576;
DELETE FROM app.catalog_endpoints p USING app.catalog_entries e
WHERE e.entry = p.entry AND e.digest = ''
    AND (p.ordinal >= jsonb_array_length(e.document -> 'endpoints') OR octet_length(p.document::text) > 131072);

-- Lists read this, and no endpoint's schema.
ALTER TABLE app.catalog_entries
    ADD COLUMN summary jsonb NOT NULL GENERATED ALWAYS AS (document - '{endpoints,provider,sourceRefs,docs,recipientPolicy}'::text[]) STORED,
    ADD COLUMN endpoint_count integer NOT NULL GENERATED ALWAYS AS (jsonb_array_length(document -> 'endpoints')) STORED;
COMMENT ON COLUMN app.catalog_entries.summary IS 'the document as lists show it: without endpoints';
COMMENT ON COLUMN app.catalog_entries.endpoint_count IS 'endpoints of the document';
