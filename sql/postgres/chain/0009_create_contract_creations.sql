-- One row: one contract created by a transaction.
CREATE TABLE {schema}.contract_creations
(
    block_num         bigint NOT NULL,
    tx_idx            integer NOT NULL,
    block_timestamp   timestamptz NOT NULL,
    tx_hash           bytea NOT NULL,
    creator           bytea NOT NULL,
    contract          bytea NOT NULL,
    PRIMARY KEY (block_num, tx_idx)
)
PARTITION BY RANGE (block_num);
-- Serves who created a contract.
CREATE INDEX ON {schema}.contract_creations (contract);
-- Serves contracts of an account.
CREATE INDEX ON {schema}.contract_creations (creator, block_num, tx_idx);
