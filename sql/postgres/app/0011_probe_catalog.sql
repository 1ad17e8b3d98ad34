-- Paths may be longer than what an index holds.
ALTER TABLE app.catalog_endpoints
    ADD COLUMN endpoint_key text NOT NULL GENERATED ALWAYS AS (md5((document ->> 'method') || ' ' || (document ->> 'path'))) STORED;
COMMENT ON COLUMN app.catalog_endpoints.endpoint_key IS 'digest of its method and path, which name it within its service';

-- One row: an endpoint that is shown, as unpaid probes find it.
CREATE TABLE app.catalog_health
(
    service_id   text        NOT NULL REFERENCES app.catalog_services ON DELETE CASCADE,
    endpoint_key text        NOT NULL GENERATED ALWAYS AS (md5(method || ' ' || path)) STORED,
    method       text        NOT NULL,
    path         text        NOT NULL,
    state        text        NOT NULL DEFAULT 'unknown'
        CHECK (state IN ('unknown', 'verified', 'answering', 'failing', 'delisted', 'unprobed')),
    failures     integer     NOT NULL DEFAULT 0,
    next_at      timestamptz DEFAULT now(),
    probed_at    timestamptz,
    verified_at  timestamptz,
    drift        jsonb,
    PRIMARY KEY (service_id, endpoint_key)
);
COMMENT ON COLUMN app.catalog_health.endpoint_key IS 'digest of its method and path, which name it within its service';
COMMENT ON COLUMN app.catalog_health.state IS 'unprobed: no call of it is known to be without effect; answering: it is there, and asked for no price that can be read';
COMMENT ON COLUMN app.catalog_health.failures IS 'probes that failed since one did not';
COMMENT ON COLUMN app.catalog_health.next_at IS 'when it is probed next; null for never';
COMMENT ON COLUMN app.catalog_health.verified_at IS 'when it last answered as it is listed';
COMMENT ON COLUMN app.catalog_health.drift IS 'price or recipient that it asks for, where the catalog lists another';
CREATE INDEX catalog_health_due ON app.catalog_health (service_id, next_at) WHERE next_at IS NOT NULL;
-- For search, which leaves them out.
CREATE INDEX catalog_health_delisted ON app.catalog_health (service_id, endpoint_key) WHERE state = 'delisted';
INSERT INTO app.catalog_health (service_id, method, path)
SELECT service_id, document ->> 'method', document ->> 'path'
FROM (SELECT e.service_id, p.document FROM app.catalog_endpoints p JOIN app.catalog_entries e USING (entry) WHERE e.is_shown) shown;

-- One row: what a probe found. The newest of each endpoint are kept.
CREATE TABLE app.catalog_probes
(
    service_id   text        NOT NULL,
    endpoint_key text        NOT NULL,
    probed_at    timestamptz NOT NULL,
    outcome      text        NOT NULL,
    status       integer,
    problem      text,
    duration_ms  integer     NOT NULL,
    offers       jsonb       NOT NULL,
    PRIMARY KEY (service_id, endpoint_key, probed_at),
    FOREIGN KEY (service_id, endpoint_key) REFERENCES app.catalog_health ON DELETE CASCADE
);
COMMENT ON COLUMN app.catalog_probes.outcome IS 'verified, answered, unpaid or failed';
COMMENT ON COLUMN app.catalog_probes.status IS 'of the answer; null where there was none';
COMMENT ON COLUMN app.catalog_probes.offers IS 'prices that it asked for';
