-- Pools that turn a user's fee token into the validator's, folded from the fee manager's events; those of genesis were read
-- from a node.

-- One row: a pool after one event.
CREATE TABLE {schema}.fee_pools_history
(
    pool            bytea   NOT NULL,
    block_num       bigint  NOT NULL,
    log_idx         integer NOT NULL,
    user_token      bytea   NOT NULL,
    validator_token bytea   NOT NULL,
    created_block   bigint  NOT NULL,
    PRIMARY KEY (pool, block_num, log_idx)
);
COMMENT ON COLUMN {schema}.fee_pools_history.pool IS 'keccak-256 of both tokens, each padded to 32 bytes';
COMMENT ON COLUMN {schema}.fee_pools_history.log_idx IS '-1: as genesis has it';
-- Serves reverts.
CREATE INDEX ON {schema}.fee_pools_history (block_num);

-- One row: a pool now.
CREATE TABLE {schema}.fee_pools_current
(
    LIKE {schema}.fee_pools_history,
    PRIMARY KEY (pool)
);
-- Serves which tokens fees can be paid in.
CREATE INDEX ON {schema}.fee_pools_current (user_token, created_block);
