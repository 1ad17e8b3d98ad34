-- The first load of balances, in pieces: transfers are summed block range by block range into tables that are cut by holder,
-- and each of these then becomes balances. Both are empty but for the time of a load.

-- At most one row: how far the load has come.
CREATE TABLE {schema}.balance_load
(
    to_block     bigint  NOT NULL,
    summed_to    bigint  NOT NULL,
    parts_stored integer NOT NULL DEFAULT 0
);
COMMENT ON COLUMN {schema}.balance_load.to_block IS 'last block of the load; final';
COMMENT ON COLUMN {schema}.balance_load.summed_to IS 'last block whose transfers are in `balance_sums`';
COMMENT ON COLUMN {schema}.balance_load.parts_stored IS 'first partitions of `balance_sums` that are in `balances` already, and gone';

-- One row: the sum of a holder's transfers of a token in one piece of blocks.
CREATE TABLE {schema}.balance_sums
(
    holder bytea   NOT NULL,
    token  bytea   NOT NULL,
    delta  numeric NOT NULL
)
PARTITION BY RANGE (holder);
