-- One row: one transaction with its receipt; they are 1:1, so `txs` and `receipts` are two views of it.
CREATE TABLE {schema}.txs
(
    block_num                  bigint NOT NULL,
    idx                        integer NOT NULL,
    block_timestamp            timestamptz NOT NULL,
    hash                       bytea NOT NULL,
    type                       smallint NOT NULL,
    "from"                     bytea NOT NULL,
    "to"                       bytea,
    input                      bytea NOT NULL,
    gas_limit                  bigint NOT NULL,
    nonce                      bigint,
    nonce_key                  bytea,
    fee_token                  bytea,
    calls                      text,
    call_count                 integer NOT NULL,
    valid_before               bigint,
    valid_after                bigint,
    signature_type             smallint,
    status                     smallint,
    gas_used                   bigint NOT NULL,
    cumulative_gas_used        bigint NOT NULL,
    contract_address           bytea,
    fee_payer                  bytea,
    paid_fee_token             bytea,
    log_count                  integer NOT NULL,
    value                      numeric(78,0) NOT NULL,
    gas_price                  numeric(78,0),
    max_fee_per_gas            numeric(78,0),
    max_priority_fee_per_gas   numeric(78,0),
    effective_gas_price        numeric(78,0),
    fee_amount                 numeric(78,0),
    PRIMARY KEY (block_num, idx)
)
PARTITION BY RANGE (block_num);
-- Serves one transaction by hash.
CREATE INDEX ON {schema}.txs (hash);
-- Serves sender lists.
CREATE INDEX ON {schema}.txs ("from", block_num, idx);
-- Serves recipient lists.
CREATE INDEX ON {schema}.txs ("to", block_num, idx);
-- Serves fee payer lists.
CREATE INDEX ON {schema}.txs (fee_payer, block_num, idx);
-- Serves fee token lists.
CREATE INDEX ON {schema}.txs (paid_fee_token, block_num, idx);
-- Serves reverted lists.
CREATE INDEX ON {schema}.txs (block_num, idx) WHERE status = 0;
