-- One row: one well-formed Transfer of any contract; `memo` comes from the TransferWithMemo that follows it.
CREATE TABLE {schema}.token_transfers
(
    block_num            bigint NOT NULL,
    log_idx              integer NOT NULL,
    block_timestamp      timestamptz NOT NULL,
    tx_idx               integer NOT NULL,
    tx_hash              bytea NOT NULL,
    token                bytea NOT NULL,
    "from"               bytea NOT NULL,
    "to"                 bytea NOT NULL,
    memo                 bytea,
    is_fee               boolean NOT NULL,
    is_virtual_forward   boolean NOT NULL,
    amount               numeric(78,0) NOT NULL,
    PRIMARY KEY (block_num, log_idx)
)
PARTITION BY RANGE (block_num);
-- Serves transfers of a token.
CREATE INDEX ON {schema}.token_transfers (token, block_num, log_idx);
-- Serves sent transfers.
CREATE INDEX ON {schema}.token_transfers ("from", block_num, log_idx);
-- Serves received transfers.
CREATE INDEX ON {schema}.token_transfers ("to", block_num, log_idx);
