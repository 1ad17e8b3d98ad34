-- One row: one account's part in a transaction.
CREATE TABLE {schema}.address_txs
(
    block_num         bigint NOT NULL,
    tx_idx            integer NOT NULL,
    direction         smallint NOT NULL,
    block_timestamp   timestamptz NOT NULL,
    tx_hash           bytea NOT NULL,
    address           bytea NOT NULL,
    counterparty      bytea,
    PRIMARY KEY (block_num, tx_idx, direction)
)
PARTITION BY RANGE (block_num);
-- Serves transactions of an account.
CREATE INDEX ON {schema}.address_txs (address, block_num, tx_idx);
