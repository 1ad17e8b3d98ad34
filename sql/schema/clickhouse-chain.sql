-- Made by `npm run schema` from what the migrations make; a test compares it. Not run by anything.

CREATE TABLE chain.address_txs
(
    `block_num` UInt64 COMMENT 'height of the block',
    `tx_idx` UInt32 COMMENT 'position of the transaction in its block, from 0',
    `direction` UInt8 COMMENT '0 sender, 1 recipient',
    `block_timestamp` DateTime('UTC') COMMENT 'time of the block, to the second; several blocks share one',
    `tx_hash` FixedString(32) COMMENT 'hash of the transaction',
    `address` FixedString(20) COMMENT 'the account',
    `counterparty` Nullable(FixedString(20)) COMMENT 'the other account; null for a creation'
)
ENGINE = MergeTree
PARTITION BY intDiv(block_num, 65536)
ORDER BY (address, block_num, tx_idx, direction)
SETTINGS non_replicated_deduplication_window = 10000, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'the part of one account in a transaction';

CREATE TABLE chain.blocks
(
    `num` UInt64 COMMENT 'height',
    `hash` FixedString(32) COMMENT 'hash of the header',
    `parent_hash` FixedString(32) COMMENT 'hash of the block before',
    `timestamp` DateTime('UTC') COMMENT 'time of the block, to the second; several blocks share one',
    `timestamp_ms` UInt64 COMMENT 'Unix milliseconds; whole seconds where the header has no finer time',
    `gas_limit` UInt64 COMMENT 'most gas the block may use, as its gas_used counts it',
    `gas_used` UInt64 COMMENT 'as in the header: since EIP-7778 no sum of what transactions paid for, which may be more or less; on Tempo without the gas of state growth since T14 (draft)',
    `miner` FixedString(20) COMMENT 'fee recipient',
    `extra_data` String COMMENT 'as in the header',
    `state_root` FixedString(32) COMMENT 'as in the header',
    `transactions_root` FixedString(32) COMMENT 'as in the header',
    `receipts_root` FixedString(32) COMMENT 'as in the header',
    `size` Nullable(UInt64) COMMENT 'bytes; null where the node does not say',
    `tx_count` UInt32 COMMENT 'transactions in the block',
    `log_count` UInt32 COMMENT 'logs in the block',
    `consensus_proposer` Nullable(FixedString(32)) COMMENT 'as in the header; null on chains without it',
    `base_fee_per_gas` Nullable(UInt256) COMMENT 'attodollars per gas on Tempo, wei elsewhere; null before EIP-1559',
    `block_access_list_hash` Nullable(FixedString(32)) COMMENT 'as in the header; null before EIP-7928',
    `slot_number` Nullable(UInt64) COMMENT 'slot of the beacon chain; slots without a block are left out; null before EIP-7843 and where the node does not say',
    INDEX hash_bloom hash TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY intDiv(num, 65536)
ORDER BY (num)
SETTINGS non_replicated_deduplication_window = 10000, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'one block header';

CREATE TABLE chain.contract_creations
(
    `block_num` UInt64 COMMENT 'height of the block',
    `tx_idx` UInt32 COMMENT 'position of the transaction in its block, from 0',
    `block_timestamp` DateTime('UTC') COMMENT 'time of the block, to the second; several blocks share one',
    `tx_hash` FixedString(32) COMMENT 'hash of the transaction',
    `creator` FixedString(20) COMMENT 'sender of the transaction',
    `contract` FixedString(20) COMMENT 'contract created',
    INDEX contract_bloom contract TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY intDiv(block_num, 65536)
ORDER BY (block_num, tx_idx)
SETTINGS non_replicated_deduplication_window = 10000, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'one contract created by a transaction';

CREATE TABLE chain.fences
(
    `fence` UInt64 COMMENT 'of the lease in Postgres'
)
ENGINE = MergeTree
ORDER BY tuple()
SETTINGS index_granularity = 8192;

CREATE TABLE chain.holder_deltas
(
    `block_num` UInt64 COMMENT 'height of the block',
    `log_idx` UInt32 COMMENT 'position of the log in its block, from 0',
    `leg` Int8 COMMENT '+1 received, -1 sent',
    `block_timestamp` DateTime('UTC') COMMENT 'time of the block, to the second; several blocks share one',
    `tx_idx` UInt32 COMMENT 'position of the transaction in its block, from 0',
    `tx_hash` FixedString(32) COMMENT 'hash of the transaction',
    `token` FixedString(20) COMMENT 'token contract',
    `holder` FixedString(20) COMMENT 'account whose balance changed',
    `counterparty` FixedString(20) COMMENT 'the other side of the transfer',
    `amount` UInt256 COMMENT 'magnitude of the change in the smallest unit of the token; its sign is leg',
    INDEX holder_bloom holder TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY intDiv(block_num, 65536)
ORDER BY (token, holder, block_num, log_idx, leg)
SETTINGS non_replicated_deduplication_window = 10000, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'one side of a transfer, seen from the account whose balance changed';

CREATE TABLE chain.logs
(
    `block_num` UInt64 COMMENT 'height of the block',
    `log_idx` UInt32 COMMENT 'position of the log in its block, from 0',
    `block_timestamp` DateTime('UTC') COMMENT 'time of the block, to the second; several blocks share one',
    `tx_idx` UInt32 COMMENT 'position of the transaction in its block, from 0',
    `tx_hash` FixedString(32) COMMENT 'hash of the transaction',
    `address` FixedString(20) COMMENT 'contract that emitted it',
    `topic0` Nullable(FixedString(32)) COMMENT 'first topic: hash of the signature of the event; null when absent',
    `topic1` Nullable(FixedString(32)) COMMENT 'second topic; null when absent',
    `topic2` Nullable(FixedString(32)) COMMENT 'third topic; null when absent',
    `topic3` Nullable(FixedString(32)) COMMENT 'fourth topic; null when absent',
    `data` String COMMENT 'what is not in topics',
    `is_virtual_forward` Bool COMMENT 'second hop of a transfer to a virtual address',
    INDEX address_bloom address TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX topic0_bloom topic0 TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX topic1_bloom topic1 TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX topic2_bloom topic2 TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX tx_hash_bloom tx_hash TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY intDiv(block_num, 65536)
ORDER BY (block_num, log_idx)
SETTINGS non_replicated_deduplication_window = 10000, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'one log as emitted';

CREATE TABLE chain.migrations
(
    `number` UInt32,
    `name` String,
    `checksum` String
)
ENGINE = ReplacingMergeTree
ORDER BY number
SETTINGS index_granularity = 8192;

CREATE TABLE chain.native_transfers
(
    `block_num` UInt64 COMMENT 'height of the block',
    `log_idx` UInt32 COMMENT 'position of its log in the block; without a log, of the first log that follows, or the number of logs where none does',
    `block_timestamp` DateTime('UTC') COMMENT 'time of the block, to the second; several blocks share one',
    `tx_idx` UInt32 COMMENT 'position of the transaction in its block, from 0',
    `tx_hash` FixedString(32) COMMENT 'hash of the transaction',
    `from` FixedString(20) COMMENT 'account that sent',
    `to` FixedString(20) COMMENT 'account that received; the contract, where one was created',
    `is_logged` Bool COMMENT 'whether a log tells it, which the receipts root proves',
    `is_value` Bool COMMENT 'whether it is the value of the transaction, and no internal movement',
    `amount` UInt256 COMMENT 'in the smallest unit of the native coin',
    INDEX from_bloom `from` TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX to_bloom to TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY intDiv(block_num, 65536)
ORDER BY (block_num, log_idx, tx_idx)
SETTINGS non_replicated_deduplication_window = 10000, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'one movement of the native coin: each that is logged (EIP-7708), internal ones too; before a chain logs them, the value of a transaction that succeeded';

CREATE TABLE chain.store_identity
(
    `store_uuid` UUID COMMENT 'the Postgres database that leads',
    `ledger_id` UUID COMMENT 'its history of commits',
    `written_at` DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree(written_at)
ORDER BY tuple()
SETTINGS index_granularity = 8192;

CREATE TABLE chain.token_approvals
(
    `block_num` UInt64 COMMENT 'height of the block',
    `log_idx` UInt32 COMMENT 'position of the log in its block, from 0',
    `block_timestamp` DateTime('UTC') COMMENT 'time of the block, to the second; several blocks share one',
    `tx_idx` UInt32 COMMENT 'position of the transaction in its block, from 0',
    `tx_hash` FixedString(32) COMMENT 'hash of the transaction',
    `token` FixedString(20) COMMENT 'token contract',
    `owner` FixedString(20) COMMENT 'account whose tokens may be spent',
    `spender` FixedString(20) COMMENT 'account that may spend them',
    `amount` UInt256 COMMENT 'most that may be spent, in the smallest unit of the token',
    INDEX owner_bloom owner TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX token_bloom token TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY intDiv(block_num, 65536)
ORDER BY (block_num, log_idx)
SETTINGS non_replicated_deduplication_window = 10000, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'one well-formed Approval of any contract';

CREATE TABLE chain.token_transfers
(
    `block_num` UInt64 COMMENT 'height of the block',
    `log_idx` UInt32 COMMENT 'position of the log in its block, from 0',
    `block_timestamp` DateTime('UTC') COMMENT 'time of the block, to the second; several blocks share one',
    `tx_idx` UInt32 COMMENT 'position of the transaction in its block, from 0',
    `tx_hash` FixedString(32) COMMENT 'hash of the transaction',
    `token` FixedString(20) COMMENT 'token contract',
    `from` FixedString(20) COMMENT 'account that sent',
    `to` FixedString(20) COMMENT 'account that received',
    `memo` Nullable(FixedString(32)) COMMENT 'memo of the TransferWithMemo that follows; null without one',
    `is_fee` Bool COMMENT 'whether the transaction paid its fee by it',
    `is_virtual_forward` Bool COMMENT 'second hop of a transfer to a virtual address',
    `amount` UInt256 COMMENT 'in the smallest unit of the token',
    INDEX token_bloom token TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX from_bloom `from` TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX to_bloom to TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY intDiv(block_num, 65536)
ORDER BY (block_num, log_idx)
SETTINGS non_replicated_deduplication_window = 10000, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'one well-formed Transfer of any contract: three topics, 32 bytes of data, 12 zero bytes before each address';

CREATE TABLE chain.txs
(
    `block_num` UInt64 COMMENT 'height of the block',
    `idx` UInt32 COMMENT 'position in the block, from 0',
    `block_timestamp` DateTime('UTC') COMMENT 'time of the block, to the second; several blocks share one',
    `hash` FixedString(32) COMMENT 'hash of the transaction',
    `type` UInt8 COMMENT 'EIP-2718 type; 118 is the 0x76 of Tempo',
    `from` FixedString(20) COMMENT 'sender',
    `to` Nullable(FixedString(20)) COMMENT 'recipient; of 0x76 the target of the first call; null for a creation',
    `input` String COMMENT 'calldata; empty for 0x76, whose data is in calls',
    `gas_limit` UInt64 COMMENT 'gas offered',
    `nonce` Nullable(UInt64) COMMENT 'nonce in its lane; any 64 bits, in no order, in the last lane (ff..ff); null where it has no meaning',
    `nonce_key` Nullable(FixedString(32)) COMMENT 'nonce lane, 32 bytes big-endian; null for ordinary nonces',
    `fee_token` Nullable(FixedString(20)) COMMENT 'fee token the transaction asked for; null where it asked for none',
    `calls` Nullable(String) COMMENT 'JSON [{to, value, input}] of a 0x76 transaction; null for other types',
    `call_count` UInt32 COMMENT 'number of calls; 1 for other types',
    `valid_before` Nullable(UInt64) COMMENT 'Unix seconds: not included at or after; null without this bound',
    `valid_after` Nullable(UInt64) COMMENT 'Unix seconds: not included before; null without this bound',
    `signature_type` Nullable(UInt8) COMMENT '0 secp256k1, 1 P256, 2 WebAuthn, 6 zk (an identity with a proof; TIP-1131 of Tempo, draft); null for others, such as owners of a configurable account (Tempo, since T14, draft)',
    `status` Nullable(UInt8) COMMENT '1 succeeded, 0 reverted, null before Byzantium',
    `gas_used` UInt64 COMMENT 'gas paid for',
    `cumulative_gas_used` UInt64 COMMENT 'gas paid for in the block up to and with this transaction; the last one is not gas_used of the block since EIP-7778, nor on Tempo since T14 (draft)',
    `contract_address` Nullable(FixedString(20)) COMMENT 'contract created; null where none was',
    `fee_payer` Nullable(FixedString(20)) COMMENT 'account that paid the fee; null where it is not told',
    `paid_fee_token` Nullable(FixedString(20)) COMMENT 'token the fee was really paid in; null for the native coin',
    `log_count` UInt32 COMMENT 'logs of the transaction',
    `value` UInt256 COMMENT 'native amount',
    `gas_price` Nullable(UInt256) COMMENT 'price per gas as offered; null where the node tells none',
    `max_fee_per_gas` Nullable(UInt256) COMMENT 'most per gas as offered; null for types without it',
    `max_priority_fee_per_gas` Nullable(UInt256) COMMENT 'most per gas to the fee recipient as offered; null for types without it',
    `effective_gas_price` Nullable(UInt256) COMMENT 'price per gas as charged; null where the node tells none',
    `fee_amount` Nullable(UInt256) COMMENT 'fee in the smallest unit of paid_fee_token, or without one of the native coin, so that sums are per token; null where it is unknown',
    INDEX hash_bloom hash TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX from_bloom `from` TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX to_bloom to TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY intDiv(block_num, 65536)
ORDER BY (block_num, idx)
SETTINGS non_replicated_deduplication_window = 10000, remove_empty_parts = 0, index_granularity = 8192
COMMENT 'one transaction with its receipt';
