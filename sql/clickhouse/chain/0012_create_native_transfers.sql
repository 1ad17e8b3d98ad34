-- One row: one movement of the chain's own coin, by a log (EIP-7708) or, where the transaction has none, by its value. Finalized blocks only, so no row is ever taken back.
CREATE TABLE IF NOT EXISTS {database}.native_transfers {on_cluster}
(
    block_num            UInt64,
    log_idx              UInt32,
    block_timestamp      DateTime('UTC'),
    tx_idx               UInt32,
    tx_hash              FixedString(32),
    `from`               FixedString(20),
    `to`                 FixedString(20),
    is_logged            Bool,
    is_value             Bool,
    amount               UInt256,
    INDEX from_bloom `from` TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX to_bloom `to` TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine:MergeTree}
-- Partitions seal: their digests and sums are computed once, from the partition alone; an insert never straddles two.
PARTITION BY intDiv(block_num, 65536)
ORDER BY (block_num, log_idx, tx_idx)
SETTINGS {dedup_window};
