-- What balances and totals were: sums of transfers after every so many blocks, and each token's totals after each block that
-- moved it. What genesis gave is in none of them.

-- One row: a block after which balances have checkpoints.
CREATE TABLE {schema}.checkpoints (block_num bigint PRIMARY KEY);

-- One row: the sum of a holder's transfers of a token up to a block of `checkpoints`; only where it changed since the last one.
CREATE TABLE {schema}.balance_checkpoints
(
    token     bytea   NOT NULL,
    holder    bytea   NOT NULL,
    block_num bigint  NOT NULL,
    balance   numeric NOT NULL,
    PRIMARY KEY (token, holder, block_num) INCLUDE (balance)
);
-- Serves reverts; rows come in the order of their blocks.
CREATE INDEX ON {schema}.balance_checkpoints USING brin (block_num) WITH (pages_per_range = 16, autosummarize = on);

-- One row: a token's totals after a block that moved it; complete up to the newest row of `checkpoints`.
CREATE TABLE {schema}.token_totals_history
(
    token          bytea   NOT NULL,
    block_num      bigint  NOT NULL,
    holder_count   bigint  NOT NULL,
    total_supply   numeric NOT NULL,
    transfer_count bigint  NOT NULL,
    PRIMARY KEY (token, block_num)
);
-- Serves reverts.
CREATE INDEX ON {schema}.token_totals_history USING brin (block_num) WITH (pages_per_range = 16, autosummarize = on);
