-- One row: one log as emitted. Finalized blocks only, so no row is ever taken back.
CREATE TABLE IF NOT EXISTS {database}.logs {on_cluster}
(
    block_num            UInt64,
    log_idx              UInt32,
    block_timestamp      DateTime('UTC'),
    tx_idx               UInt32,
    tx_hash              FixedString(32),
    address              FixedString(20),
    topic0               Nullable(FixedString(32)),
    topic1               Nullable(FixedString(32)),
    topic2               Nullable(FixedString(32)),
    topic3               Nullable(FixedString(32)),
    data                 String,
    is_virtual_forward   Bool,
    INDEX address_bloom address TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX topic0_bloom topic0 TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX topic1_bloom topic1 TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX topic2_bloom topic2 TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX tx_hash_bloom tx_hash TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine:MergeTree}
-- Partitions seal: their digests and sums are computed once, from the partition alone; an insert never straddles two.
PARTITION BY intDiv(block_num, 65536)
ORDER BY (block_num, log_idx)
SETTINGS {dedup_window};
