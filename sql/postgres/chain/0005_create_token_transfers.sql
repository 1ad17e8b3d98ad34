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
-- TIP-20 tokens have addresses that begin with 0x20c0 and ten zero bytes. On Tempo the API lists their transfers only,
-- elsewhere no token lives there, so each list has an index of its own and a row is in one of the two.
-- Serves transfers of TIP-20 tokens.
CREATE INDEX ON {schema}.token_transfers (block_num, log_idx)
    WHERE token >= '\x20c000000000000000000000'::bytea AND token < '\x20c000000000000000000001'::bytea;
-- Serves sent transfers.
CREATE INDEX ON {schema}.token_transfers ("from", block_num, log_idx)
    WHERE token >= '\x20c000000000000000000000'::bytea AND token < '\x20c000000000000000000001'::bytea;
CREATE INDEX ON {schema}.token_transfers ("from", block_num, log_idx)
    WHERE token < '\x20c000000000000000000000'::bytea OR token >= '\x20c000000000000000000001'::bytea;
-- Serves received transfers.
CREATE INDEX ON {schema}.token_transfers ("to", block_num, log_idx)
    WHERE token >= '\x20c000000000000000000000'::bytea AND token < '\x20c000000000000000000001'::bytea;
CREATE INDEX ON {schema}.token_transfers ("to", block_num, log_idx)
    WHERE token < '\x20c000000000000000000000'::bytea OR token >= '\x20c000000000000000000001'::bytea;
