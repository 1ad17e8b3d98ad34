-- One row: one account's part in a transaction. Finalized blocks only, so no row is ever taken back.
CREATE TABLE IF NOT EXISTS {database}.address_txs {on_cluster}
(
    block_num         UInt64,
    tx_idx            UInt32,
    direction         UInt8,
    block_timestamp   DateTime('UTC'),
    tx_hash           FixedString(32),
    address           FixedString(20),
    counterparty      Nullable(FixedString(20))
)
ENGINE = {engine:MergeTree}
-- Partitions seal: their digests and sums are computed once, from the partition alone; an insert never straddles two.
PARTITION BY intDiv(block_num, 65536)
ORDER BY (address, block_num, tx_idx, direction)
SETTINGS {dedup_window};
