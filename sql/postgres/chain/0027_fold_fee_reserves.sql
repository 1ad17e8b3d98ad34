-- Fee pools with their mints and reserves. What version 1 of the fold wrote is told again by its second version.

DROP TABLE {schema}.fee_pools_history, {schema}.fee_pools_current;

-- One row: a pool after the last event or fee of a block that touched it.
CREATE TABLE {schema}.fee_pools_history
(
    pool              bytea     NOT NULL,
    block_num         bigint    NOT NULL,
    log_idx           integer   NOT NULL,
    life              int8range NOT NULL,
    user_token        bytea     NOT NULL,
    validator_token   bytea     NOT NULL,
    created_block     bigint    NOT NULL,
    created_at        timestamptz NOT NULL,
    last_mint_at      timestamptz NOT NULL,
    mint_count        integer   NOT NULL,
    reserve_user      numeric,
    reserve_validator numeric,
    PRIMARY KEY (pool, block_num, log_idx)
);
COMMENT ON COLUMN {schema}.fee_pools_history.pool IS 'keccak-256 of both tokens, each padded to 32 bytes';
COMMENT ON COLUMN {schema}.fee_pools_history.log_idx IS '-1: as genesis has it';
COMMENT ON COLUMN {schema}.fee_pools_history.life IS 'blocks after which the pool was in this state';
COMMENT ON COLUMN {schema}.fee_pools_history.reserve_user IS 'null where what genesis gave is not known';
-- Serves reverts.
CREATE INDEX ON {schema}.fee_pools_history (block_num);
-- Serves pools as of a block, of those that changed since.
CREATE INDEX ON {schema}.fee_pools_history USING gist (life) WHERE NOT upper_inf(life);

-- One row: a pool now.
CREATE TABLE {schema}.fee_pools_current
(
    LIKE {schema}.fee_pools_history,
    PRIMARY KEY (pool)
);
-- Serves which tokens fees can be paid in.
CREATE INDEX ON {schema}.fee_pools_current (user_token, created_block);
-- Serves the list of pools.
CREATE INDEX ON {schema}.fee_pools_current (mint_count, user_token, validator_token);

-- One row: the token a validator takes fees in, after a block in which it chose.
CREATE TABLE {schema}.fee_validators_history
(
    validator bytea   NOT NULL,
    block_num bigint  NOT NULL,
    log_idx   integer NOT NULL,
    token     bytea   NOT NULL,
    PRIMARY KEY (validator, block_num, log_idx)
);
-- Serves reverts.
CREATE INDEX ON {schema}.fee_validators_history (block_num);

-- One row: the token a validator takes fees in now.
CREATE TABLE {schema}.fee_validators_current
(
    LIKE {schema}.fee_validators_history,
    PRIMARY KEY (validator)
);

-- One row: liquidity added to a fee pool, by either form of the event.
CREATE TABLE {schema}.fee_pool_mints
(
    block_num        bigint  NOT NULL,
    log_idx          integer NOT NULL,
    block_timestamp  timestamptz NOT NULL,
    tx_hash          bytea   NOT NULL,
    pool             bytea   NOT NULL,
    user_token       bytea   NOT NULL,
    validator_token  bytea   NOT NULL,
    minter           bytea   NOT NULL,
    recipient        bytea,
    amount_user      numeric(78,0),
    amount_validator numeric(78,0) NOT NULL,
    liquidity        numeric(78,0) NOT NULL,
    PRIMARY KEY (block_num, log_idx)
);
COMMENT ON COLUMN {schema}.fee_pool_mints.recipient IS 'null in the older form of the event';
COMMENT ON COLUMN {schema}.fee_pool_mints.amount_user IS 'null in the newer form of the event';
-- Serves mints of a pool, and of either token.
CREATE INDEX ON {schema}.fee_pool_mints (user_token, block_num, log_idx);
CREATE INDEX ON {schema}.fee_pool_mints (validator_token, block_num, log_idx);

-- One row: a pool compared with what the node says of it.
CREATE TABLE {schema}.fee_pool_checks
(
    pool      bytea   PRIMARY KEY,
    block_num bigint  NOT NULL,
    differs   boolean NOT NULL
);
COMMENT ON COLUMN {schema}.fee_pool_checks.differs IS 'the node had other reserves after this block: ours are not told';
