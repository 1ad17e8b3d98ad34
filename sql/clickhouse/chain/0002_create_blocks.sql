-- One row: one block header. Finalized blocks only, so no row is ever taken back.
CREATE TABLE IF NOT EXISTS {database}.blocks {on_cluster}
(
    num                  UInt64,
    hash                 FixedString(32),
    parent_hash          FixedString(32),
    timestamp            DateTime('UTC'),
    timestamp_ms         UInt64,
    gas_limit            UInt64,
    gas_used             UInt64,
    miner                FixedString(20),
    extra_data           String,
    state_root           FixedString(32),
    transactions_root    FixedString(32),
    receipts_root        FixedString(32),
    size                 Nullable(UInt64),
    tx_count             UInt32,
    log_count            UInt32,
    consensus_proposer   Nullable(FixedString(32)),
    base_fee_per_gas     Nullable(UInt256),
    INDEX hash_bloom hash TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine:MergeTree}
-- Partitions seal: their digests and sums are computed once, from the partition alone; an insert never straddles two.
PARTITION BY intDiv(num, 65536)
ORDER BY (num)
SETTINGS {dedup_window};
