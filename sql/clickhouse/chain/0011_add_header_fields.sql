-- Fields that Ethereum's Amsterdam adds to headers. Null in rows of before.
ALTER TABLE {database}.blocks {on_cluster}
    ADD COLUMN IF NOT EXISTS block_access_list_hash Nullable(FixedString(32)),
    ADD COLUMN IF NOT EXISTS slot_number            Nullable(UInt64);
