-- One row: one movement of the chain's own coin, by a log (EIP-7708) or, where the transaction has none, by its value.
CREATE TABLE {schema}.native_transfers
(
    block_num            bigint NOT NULL,
    log_idx              integer NOT NULL,
    block_timestamp      timestamptz NOT NULL,
    tx_idx               integer NOT NULL,
    tx_hash              bytea NOT NULL,
    "from"               bytea NOT NULL,
    "to"                 bytea NOT NULL,
    is_logged            boolean NOT NULL,
    is_value             boolean NOT NULL,
    amount               numeric(78,0) NOT NULL,
    PRIMARY KEY (block_num, log_idx, tx_idx)
)
PARTITION BY RANGE (block_num);
-- Serves sent transfers.
CREATE INDEX ON {schema}.native_transfers ("from", block_num, log_idx, tx_idx);
-- Serves received transfers.
CREATE INDEX ON {schema}.native_transfers ("to", block_num, log_idx, tx_idx);
-- Serves two filters of transfers.
CREATE INDEX ON {schema}.native_transfers (hash_record_extended(ROW("from", "to"), 0), block_num, log_idx, tx_idx);
-- Serves the first block in which the coin is logged.
CREATE INDEX ON {schema}.native_transfers (block_num) WHERE is_logged;

DO $$
DECLARE
    partition record;
    shape text := 'LIKE {schema}.native_transfers INCLUDING DEFAULTS INCLUDING STORAGE';
BEGIN
    FOR partition IN
        SELECT c.relname AS name, c.relispartition AS attached, pg_get_expr(c.relpartbound, c.oid) AS bound,
               (SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k WHERE k.conrelid = c.oid AND k.conname = 'block_bounds') AS bounds
        FROM pg_class c
        WHERE c.relnamespace = '{schema}'::regnamespace AND c.relkind = 'r' AND c.relname ~ '^token_transfers_(from|head)_[0-9]+$'
    LOOP
        IF partition.attached THEN
            EXECUTE format('CREATE TABLE {schema}.%I PARTITION OF {schema}.native_transfers %s',
                           replace(partition.name, 'token_', 'native_'), partition.bound);
        ELSE
            -- Of chunks that are being loaded.
            EXECUTE format('CREATE TABLE {schema}.%I (%s, CONSTRAINT block_bounds %s) WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off)',
                           replace(partition.name, 'token_', 'native_'), shape, partition.bounds);
        END IF;
    END LOOP;
END
$$;

-- Where nothing was ever paid in the chain's own coin, as on Tempo, no block has a row. Elsewhere the next start asks for `millrace rederive`, also
-- where a chunk holds blocks already, which no coverage names yet.
INSERT INTO {schema}.coverage (store, projection, version, blocks)
SELECT store, 'native_transfers', 1, range_agg(blocks)
FROM {schema}.coverage
WHERE projection = 'base'
  AND CASE
          WHEN (SELECT header_rule FROM {schema}.chain) = 'tempo' THEN true
          ELSE NOT EXISTS (SELECT 1 FROM {schema}.txs WHERE value <> 0)
               AND NOT EXISTS (SELECT 1 FROM {schema}.chunks WHERE tip >= from_block)
      END
GROUP BY store
ON CONFLICT DO NOTHING;
