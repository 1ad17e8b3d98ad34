-- One row: one log as emitted.
CREATE TABLE {schema}.logs
(
    block_num            bigint NOT NULL,
    log_idx              integer NOT NULL,
    block_timestamp      timestamptz NOT NULL,
    tx_idx               integer NOT NULL,
    tx_hash              bytea NOT NULL,
    address              bytea NOT NULL,
    topic0               bytea,
    topic1               bytea,
    topic2               bytea,
    topic3               bytea,
    data                 bytea NOT NULL,
    is_virtual_forward   boolean NOT NULL,
    PRIMARY KEY (block_num, log_idx)
)
PARTITION BY RANGE (block_num);
-- Serves logs of a contract.
CREATE INDEX ON {schema}.logs (address, topic0, block_num, log_idx);
-- Serves logs of an event.
CREATE INDEX ON {schema}.logs (topic0, block_num, log_idx);
-- Serves logs of a transaction.
CREATE INDEX ON {schema}.logs (tx_hash);
