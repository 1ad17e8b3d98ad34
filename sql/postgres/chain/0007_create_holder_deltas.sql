-- One row: one side of a transfer, seen from the account whose balance changed.
CREATE TABLE {schema}.holder_deltas
(
    block_num         bigint NOT NULL,
    log_idx           integer NOT NULL,
    leg               smallint NOT NULL,
    block_timestamp   timestamptz NOT NULL,
    tx_idx            integer NOT NULL,
    tx_hash           bytea NOT NULL,
    token             bytea NOT NULL,
    holder            bytea NOT NULL,
    counterparty      bytea NOT NULL,
    amount            numeric(78,0) NOT NULL,
    PRIMARY KEY (block_num, log_idx, leg)
)
PARTITION BY RANGE (block_num);
-- Serves balances and transfers of an account.
CREATE INDEX ON {schema}.holder_deltas (holder, token, block_num, log_idx);
-- Serves holders of a token.
CREATE INDEX ON {schema}.holder_deltas (token, holder, block_num, log_idx);
