-- Rows of these two tables only told again what rows of token_transfers and txs tell. ClickHouse keeps them, sorted as it
-- needs them; here the indexes of what they were made of serve, and views have their names.
DO $$
DECLARE
    detached regclass;
BEGIN
    -- Of chunks that are being loaded; what is attached goes with its parent.
    FOR detached IN
        SELECT oid FROM pg_class
        WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r' AND NOT relispartition
          AND relname ~ '^(holder_deltas|address_txs)_from_[0-9]+$'
    LOOP
        EXECUTE format('DROP TABLE %s', detached);
    END LOOP;
END
$$;
DROP TABLE {schema}.holder_deltas;
DROP TABLE {schema}.address_txs;

-- One row: one side of a transfer, seen from the account whose balance changed. The zero address holds nothing.
CREATE VIEW {schema}.holder_deltas AS
    SELECT block_num, log_idx, (-1)::smallint AS leg, block_timestamp, tx_idx, tx_hash, token,
           "from" AS holder, "to" AS counterparty, amount
    FROM {schema}.token_transfers WHERE "from" <> '\x0000000000000000000000000000000000000000'::bytea
    UNION ALL
    SELECT block_num, log_idx, 1::smallint, block_timestamp, tx_idx, tx_hash, token, "to", "from", amount
    FROM {schema}.token_transfers WHERE "to" <> '\x0000000000000000000000000000000000000000'::bytea;

-- One row: one account's part in a transaction.
CREATE VIEW {schema}.address_txs AS
    SELECT block_num, idx AS tx_idx, 0::smallint AS direction, block_timestamp, hash AS tx_hash,
           "from" AS address, "to" AS counterparty
    FROM {schema}.txs
    UNION ALL
    SELECT block_num, idx, 1::smallint, block_timestamp, hash, "to", "from" FROM {schema}.txs WHERE "to" IS NOT NULL;
