-- One row: one contract created by a transaction. Finalized blocks only, so no row is ever taken back.
CREATE TABLE IF NOT EXISTS {database}.contract_creations {on_cluster}
(
    block_num         UInt64,
    tx_idx            UInt32,
    block_timestamp   DateTime('UTC'),
    tx_hash           FixedString(32),
    creator           FixedString(20),
    contract          FixedString(20),
    INDEX contract_bloom contract TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine:MergeTree}
-- Partitions seal: their digests and sums are computed once, from the partition alone; an insert never straddles two.
PARTITION BY intDiv(block_num, 65536)
ORDER BY (block_num, tx_idx)
SETTINGS {dedup_window};
