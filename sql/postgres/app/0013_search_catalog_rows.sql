-- What a search needs to find candidates stands in one table, and a row's number names what it holds.
ALTER TABLE app.catalog_endpoints
    ADD COLUMN endpoint   bigint  NOT NULL GENERATED ALWAYS AS IDENTITY,
    ADD COLUMN service_id text    NOT NULL DEFAULT '',
    ADD COLUMN is_shown   boolean NOT NULL DEFAULT false;
UPDATE app.catalog_endpoints p SET service_id = e.service_id, is_shown = e.is_shown FROM app.catalog_entries e WHERE e.entry = p.entry;
ALTER TABLE app.catalog_endpoints ALTER COLUMN service_id DROP DEFAULT, ALTER COLUMN is_shown DROP DEFAULT;
COMMENT ON COLUMN app.catalog_endpoints.endpoint IS 'its number; a changed endpoint is another row, so that the number names a document for ever';
COMMENT ON COLUMN app.catalog_endpoints.service_id IS 'of its entry';
COMMENT ON COLUMN app.catalog_endpoints.is_shown IS 'of its entry: what is searched';
-- For the candidates of a question.
DROP INDEX app.catalog_endpoints_terms;
CREATE INDEX catalog_endpoints_terms ON app.catalog_endpoints USING gin (terms) WHERE is_shown;
-- For the documents of candidates.
CREATE UNIQUE INDEX catalog_endpoints_endpoint ON app.catalog_endpoints (endpoint);
-- For a search in some services.
CREATE INDEX catalog_endpoints_service ON app.catalog_endpoints (service_id) WHERE is_shown;
