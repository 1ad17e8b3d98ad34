-- One row: a paid service by its id. The row stays when its entries go, so that no other service ever gets the id.
CREATE TABLE app.catalog_services
(
    service_id  text        PRIMARY KEY,
    service_url text        NOT NULL UNIQUE,
    skeleton    text        NOT NULL,
    looks_like  text,
    created_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN app.catalog_services.service_url IS 'where its endpoints are; entries with the same one are the same service';
COMMENT ON COLUMN app.catalog_services.skeleton IS 'what its name looks like at a glance';
COMMENT ON COLUMN app.catalog_services.looks_like IS 'id of an older service whose name looks the same';
CREATE INDEX catalog_services_skeleton ON app.catalog_services (skeleton);

-- One row: what one source says of a service. Of several entries the oldest is shown.
CREATE TABLE app.catalog_entries
(
    entry        bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id    text        NOT NULL,
    external_id  text        NOT NULL,
    service_id   text        NOT NULL REFERENCES app.catalog_services,
    is_shown      boolean     NOT NULL,
    document     jsonb       NOT NULL,
    digest       text        NOT NULL,
    cataloged_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (source_id, external_id)
);
COMMENT ON COLUMN app.catalog_entries.is_shown IS 'the oldest entry of its service: what is described and searched';
COMMENT ON COLUMN app.catalog_entries.document IS 'the service with its endpoints, as it is described';
COMMENT ON COLUMN app.catalog_entries.digest IS 'SHA-256 of the document, to leave rows alone that did not change';
COMMENT ON COLUMN app.catalog_entries.cataloged_at IS 'when the source last listed it';
CREATE INDEX catalog_entries_service ON app.catalog_entries (service_id, entry);

-- One row: an endpoint of an entry, as search sees it.
CREATE TABLE app.catalog_endpoints
(
    entry    bigint   NOT NULL REFERENCES app.catalog_entries ON DELETE CASCADE,
    ordinal  integer  NOT NULL,
    terms    tsvector NOT NULL,
    document jsonb    NOT NULL,
    PRIMARY KEY (entry, ordinal)
);
COMMENT ON COLUMN app.catalog_endpoints.ordinal IS 'its place among the endpoints of the entry, from 0';
COMMENT ON COLUMN app.catalog_endpoints.terms IS 'its words, cut and weighted by the program';
COMMENT ON COLUMN app.catalog_endpoints.document IS 'what ranking and the answer need: words by field, price, dates';
-- For the candidates of a question.
CREATE INDEX catalog_endpoints_terms ON app.catalog_endpoints USING gin (terms);

-- One row: a word of the catalog, and how many endpoints have it. Made again by each import.
CREATE TABLE app.catalog_terms
(
    term      text    PRIMARY KEY,
    endpoints integer NOT NULL,
    grams     text[]  NOT NULL
);
COMMENT ON COLUMN app.catalog_terms.grams IS 'three letters at a time, in any alphabet: pg_trgm sees ASCII alone where the ctype is C';
-- For words that are spelled alike.
CREATE INDEX catalog_terms_grams ON app.catalog_terms USING gin (grams);
