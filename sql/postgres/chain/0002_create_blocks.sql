-- One row: one block header.
CREATE TABLE {schema}.blocks
(
    num                  bigint NOT NULL,
    hash                 bytea NOT NULL,
    parent_hash          bytea NOT NULL,
    timestamp            timestamptz NOT NULL,
    timestamp_ms         bigint NOT NULL,
    gas_limit            bigint NOT NULL,
    gas_used             bigint NOT NULL,
    miner                bytea NOT NULL,
    extra_data           bytea NOT NULL,
    state_root           bytea NOT NULL,
    transactions_root    bytea NOT NULL,
    receipts_root        bytea NOT NULL,
    size                 bigint,
    tx_count             integer NOT NULL,
    log_count            integer NOT NULL,
    consensus_proposer   bytea,
    base_fee_per_gas     numeric(78,0),
    PRIMARY KEY (num)
)
PARTITION BY RANGE (num);
-- Serves one block by hash.
CREATE INDEX ON {schema}.blocks (hash);
-- Serves time bounds.
CREATE INDEX ON {schema}.blocks (timestamp, num);
