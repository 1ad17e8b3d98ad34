-- Balances: genesis and all transfers, kept by a follower of the blocks held here. Sums of what a contract says may be of
-- any size and negative, hence numeric without bounds.

ALTER TABLE {schema}.followers ADD COLUMN completed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN {schema}.followers.completed IS 'what no block held here tells has been read, such as balances of genesis';

-- One row: what a holder has of a token now; zero once all is gone.
CREATE TABLE {schema}.balances
(
    holder  bytea   NOT NULL,
    token   bytea   NOT NULL,
    balance numeric NOT NULL,
    PRIMARY KEY (holder, token)
);
-- Serves balances of an address, largest first: of TIP-20 tokens, as the API lists them on Tempo, and of all others.
CREATE INDEX ON {schema}.balances (holder, (-balance), token)
    WHERE balance > 0 AND token >= '\x20c000000000000000000000'::bytea AND token < '\x20c000000000000000000001'::bytea;
CREATE INDEX ON {schema}.balances (holder, (-balance), token)
    WHERE balance > 0 AND (token < '\x20c000000000000000000000'::bytea OR token >= '\x20c000000000000000000001'::bytea);
-- Serves holders of a token, largest first.
CREATE INDEX ON {schema}.balances (token, (-balance), holder) WHERE balance > 0;

-- One row: what one block changed, for the newest blocks: undoes reverts, and tells the balances of a moment ago.
CREATE TABLE {schema}.balance_changes
(
    block_num bigint  NOT NULL,
    token     bytea   NOT NULL,
    holder    bytea   NOT NULL,
    delta     numeric NOT NULL,
    PRIMARY KEY (block_num, token, holder)
);
-- Serves holders of a token as of a block.
CREATE INDEX ON {schema}.balance_changes (token, block_num);
-- Serves balances of an address as of a block.
CREATE INDEX ON {schema}.balance_changes (holder, block_num);

-- One row: what genesis gave a holder without a log.
CREATE TABLE {schema}.genesis_balances
(
    token   bytea   NOT NULL,
    holder  bytea   NOT NULL,
    balance numeric NOT NULL,
    PRIMARY KEY (token, holder)
);
-- Serves balances of an address as of a block long ago.
CREATE INDEX ON {schema}.genesis_balances (holder);

-- One row: a token that was ever transferred, or given at genesis.
CREATE TABLE {schema}.token_totals
(
    token             bytea   PRIMARY KEY,
    holder_count      bigint  NOT NULL,
    total_supply      numeric NOT NULL,
    transfer_count    bigint  NOT NULL,
    first_block       bigint,
    first_log_idx     integer,
    first_transfer_at timestamptz,
    last_transfer_at  timestamptz,
    genesis_missing   numeric NOT NULL DEFAULT 0
);
COMMENT ON COLUMN {schema}.token_totals.holder_count IS 'holders with more than zero';
COMMENT ON COLUMN {schema}.token_totals.genesis_missing IS 'supply of genesis whose holders are not known; with any, holders of the token are not told';
-- Serves which tokens' balances are not known.
CREATE INDEX ON {schema}.token_totals (token) WHERE genesis_missing <> 0;
-- Serves the list of tokens where no factory creates them.
CREATE INDEX ON {schema}.token_totals (first_block, first_log_idx, token);

-- One row: transfers of a token in one block, for the newest blocks.
CREATE TABLE {schema}.token_changes
(
    block_num      bigint NOT NULL,
    token          bytea  NOT NULL,
    transfer_count bigint NOT NULL,
    PRIMARY KEY (block_num, token)
);
-- Serves totals of a token as of a block.
CREATE INDEX ON {schema}.token_changes (token, block_num);
