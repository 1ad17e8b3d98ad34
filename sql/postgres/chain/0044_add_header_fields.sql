-- Fields that Ethereum's Amsterdam adds to headers. Null in rows of before.
ALTER TABLE {schema}.blocks
    ADD COLUMN block_access_list_hash bytea,
    ADD COLUMN slot_number            bigint;
DO $$
DECLARE
    detached regclass;
BEGIN
    -- Of chunks that are being loaded; what is attached goes with its parent.
    FOR detached IN
        SELECT oid FROM pg_class
        WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r' AND NOT relispartition
          AND relname ~ '^blocks_from_[0-9]+$'
    LOOP
        EXECUTE format('ALTER TABLE %s ADD COLUMN block_access_list_hash bytea, ADD COLUMN slot_number bigint', detached);
    END LOOP;
END
$$;

-- Since version 3 of `base` rows have them. Where no block held can have one, rows are what they were and are not made again.
UPDATE {schema}.coverage
SET version = 3
WHERE projection = 'base'
  AND version = 2
  AND CASE
          -- Ethereum and Tempo, by their ids: none of their headers had one until now.
          WHEN (SELECT chain_id FROM {schema}.chain) IN (1, 4217, 42431) THEN true
          -- Elsewhere headers with them were not proved; on Sepolia a block's own bytes may have proved them.
          ELSE NOT EXISTS (
              SELECT 1
              FROM {schema}.blocks JOIN {schema}.block_proofs ON block_num = num
              WHERE timestamp >= '2026-08-01'
                AND (header <> 1 AND (SELECT header_rule FROM {schema}.chain) = 'ethereum'
                     OR timestamp >= to_timestamp(1791294816) AND (SELECT chain_id FROM {schema}.chain) = 11155111))
      END;
