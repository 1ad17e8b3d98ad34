-- Requests of keys by hour, route and status, added up from what each process counted.
CREATE TABLE app.request_usage
(
    api_key_id  text             NOT NULL,
    started_at  timestamptz      NOT NULL,
    route       text             NOT NULL,
    status      integer          NOT NULL,
    requests    bigint           NOT NULL,
    duration_ms double precision NOT NULL,
    PRIMARY KEY (api_key_id, started_at, route, status)
);
CREATE INDEX ON app.request_usage (started_at);
COMMENT ON COLUMN app.request_usage.started_at IS 'begin of the hour, by the clock of the database';
COMMENT ON COLUMN app.request_usage.route IS 'template of the path';
COMMENT ON COLUMN app.request_usage.duration_ms IS 'sum; of a live stream the time until it began';
