-- Filters of JSON-RPC clients. Any process answers a poll; the row is locked while it does.
CREATE TABLE app.rpc_filters
(
    id         text        PRIMARY KEY,
    chain_id   bigint      NOT NULL,
    caller     text        NOT NULL,
    kind       text        NOT NULL CHECK (kind IN ('logs', 'blocks')),
    asked      jsonb       NOT NULL,
    told_block bigint      NOT NULL,
    told       jsonb       NOT NULL,
    polled_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ON app.rpc_filters (caller);
CREATE INDEX ON app.rpc_filters (polled_at);
COMMENT ON COLUMN app.rpc_filters.asked IS 'the filter as its client wrote it';
COMMENT ON COLUMN app.rpc_filters.told_block IS 'newest block whose logs were told, or passed over';
COMMENT ON COLUMN app.rpc_filters.told IS 'blocks that were not final when they were told: number, hash and the logs told of each';
