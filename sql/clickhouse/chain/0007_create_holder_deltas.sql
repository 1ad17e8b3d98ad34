-- One row: one side of a transfer, seen from the account whose balance changed. Finalized blocks only, so no row is ever taken back.
CREATE TABLE IF NOT EXISTS {database}.holder_deltas {on_cluster}
(
    block_num         UInt64,
    log_idx           UInt32,
    leg               Int8,
    block_timestamp   DateTime('UTC'),
    tx_idx            UInt32,
    tx_hash           FixedString(32),
    token             FixedString(20),
    holder            FixedString(20),
    counterparty      FixedString(20),
    amount            UInt256,
    INDEX holder_bloom holder TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine:MergeTree}
-- Partitions seal: their digests and sums are computed once, from the partition alone; an insert never straddles two.
PARTITION BY intDiv(block_num, 65536)
ORDER BY (token, holder, block_num, log_idx, leg)
SETTINGS {dedup_window};
