-- One row: one transaction with its receipt; they are 1:1, so `txs` and `receipts` are two views of it. Finalized blocks only, so no row is ever taken back.
CREATE TABLE IF NOT EXISTS {database}.txs {on_cluster}
(
    block_num                  UInt64,
    idx                        UInt32,
    block_timestamp            DateTime('UTC'),
    hash                       FixedString(32),
    type                       UInt8,
    `from`                     FixedString(20),
    `to`                       Nullable(FixedString(20)),
    input                      String,
    gas_limit                  UInt64,
    nonce                      Nullable(UInt64),
    nonce_key                  Nullable(FixedString(32)),
    fee_token                  Nullable(FixedString(20)),
    calls                      Nullable(String),
    call_count                 UInt32,
    valid_before               Nullable(UInt64),
    valid_after                Nullable(UInt64),
    signature_type             Nullable(UInt8),
    status                     Nullable(UInt8),
    gas_used                   UInt64,
    cumulative_gas_used        UInt64,
    contract_address           Nullable(FixedString(20)),
    fee_payer                  Nullable(FixedString(20)),
    paid_fee_token             Nullable(FixedString(20)),
    log_count                  UInt32,
    value                      UInt256,
    gas_price                  Nullable(UInt256),
    max_fee_per_gas            Nullable(UInt256),
    max_priority_fee_per_gas   Nullable(UInt256),
    effective_gas_price        Nullable(UInt256),
    fee_amount                 Nullable(UInt256),
    INDEX hash_bloom hash TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX from_bloom `from` TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX to_bloom `to` TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine:MergeTree}
-- Partitions seal: their digests and sums are computed once, from the partition alone; an insert never straddles two.
PARTITION BY intDiv(block_num, 65536)
ORDER BY (block_num, idx)
SETTINGS {dedup_window};
