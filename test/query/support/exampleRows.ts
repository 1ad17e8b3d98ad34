/**
 * Rows of the example chain: every absent value, extreme and kind of byte string the queries of the
 * corpora meet.
 */

import type { TableName } from '#transform/tables.ts'

export type ExampleRow = Readonly<Record<string, string | number | bigint | boolean | null>>

const word = (value: number | bigint): string => `0x${value.toString(16).padStart(64, '0')}`
const account = (value: number): string => `0x${value.toString(16).padStart(40, '0')}`

const token = '0x20c0000000000000000000000000000000000001'
const otherToken = '0x20c0000000000000000000000000000000000002'
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const approvalTopic = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'

/** 2026-11-21 11:59:58 UTC; blocks are half a second apart, so that two share a second. */
const genesisSeconds = 1_795_262_398
const secondsOf = (block: number): number => genesisSeconds + Math.floor(block / 2) + (block > 3 ? 3_600 : 0)
const uint256Max = 2n ** 256n - 1n

const blocks: ExampleRow[] = [1, 2, 3, 4, 5].map((num) => ({
  num,
  hash: word(num),
  parent_hash: word(num - 1),
  timestamp: secondsOf(num),
  timestamp_ms: secondsOf(num) * 1000 + (num % 2) * 500,
  gas_limit: 500_000_000,
  gas_used: num * 21_000,
  miner: account(0),
  extra_data: num === 3 ? '0xff00fe' : '0x',
  state_root: word(100 + num),
  transactions_root: word(200 + num),
  receipts_root: word(300 + num),
  size: num === 2 ? null : 1_000 + num,
  tx_count: 2,
  log_count: 2,
  consensus_proposer: num > 3 ? word(400 + num) : null,
  base_fee_per_gas: num > 1 ? 10n ** 9n : null,
  block_access_list_hash: num > 3 ? word(500 + num) : null,
  slot_number: num > 3 ? 9_000 + num : null,
}))

const txs: ExampleRow[] = [
  [1, 0],
  [1, 1],
  [2, 0],
  [3, 0],
  [3, 1],
  [4, 0],
].map(([block = 0, idx = 0], n) => ({
  block_num: block,
  idx,
  block_timestamp: secondsOf(block),
  hash: word(1_000 + n),
  type: n % 2 === 0 ? 118 : 2,
  from: account(16 + (n % 3)),
  to: n === 4 ? null : ([token, otherToken][n % 2] ?? null),
  input: n % 2 === 0 ? '0x' : '0xa9059cbb00ff',
  gas_limit: 100_000,
  nonce: n === 5 ? 2n ** 64n - 1n : n,
  nonce_key: n === 2 ? word(7) : null,
  fee_token: n % 2 === 0 ? token : null,
  calls: n % 2 === 0 ? `[{"to":"${n === 0 ? token : otherToken}","value":"0","input":"0x"}]` : null,
  call_count: 1,
  valid_before: null,
  valid_after: n === 0 ? genesisSeconds : null,
  signature_type: n % 2 === 0 ? 1 : null,
  status: n === 3 ? 0 : 1,
  gas_used: 21_000 + n,
  cumulative_gas_used: 21_000 * (idx + 1),
  contract_address: n === 4 ? account(99) : null,
  fee_payer: account(16),
  paid_fee_token: token,
  log_count: 1,
  value: [0n, 1n, 2n ** 64n, 2n ** 128n, uint256Max / 2n, 10n ** 18n][n] ?? 0n,
  gas_price: n % 2 === 1 ? 10n ** 9n : null,
  max_fee_per_gas: 10n ** 9n,
  max_priority_fee_per_gas: 0n,
  effective_gas_price: 10n ** 9n,
  fee_amount: 21n * 10n ** 12n,
}))

const logs: ExampleRow[] = [
  [1, 0, 0],
  [1, 1, 1],
  [2, 0, 0],
  [3, 0, 0],
  [3, 1, 1],
  [3, 2, 1],
  [4, 0, 0],
].map(([block = 0, logIdx = 0, txIdx = 0], n) => ({
  block_num: block,
  log_idx: logIdx,
  block_timestamp: secondsOf(block),
  tx_idx: txIdx,
  tx_hash: word(1_000 + ([0, 1, 2, 3, 4, 4, 5][n] ?? 0)),
  address: n === 6 ? account(99) : n % 2 === 0 ? token : otherToken,
  topic0: n === 5 ? null : n % 3 === 0 ? transferTopic : approvalTopic,
  topic1: n === 5 ? null : word(16 + n),
  topic2: n === 5 || n === 4 ? null : word(32 + n),
  topic3: n === 6 ? word(48) : null,
  data: ['0x', word(5), '0x00ff80fe', '0xc3a9', word(uint256Max), '0x27225c0a', '0x61'][n] ?? '0x',
  is_virtual_forward: n === 2,
}))

const transfers: ExampleRow[] = [1, 2, 3].map((block) => ({
  block_num: block,
  log_idx: 0,
  block_timestamp: secondsOf(block),
  tx_idx: 0,
  tx_hash: word(1_000 + block),
  token,
  from: account(16),
  to: account(16 + block),
  memo: block === 2 ? word(77) : null,
  is_fee: block === 3,
  is_virtual_forward: false,
  amount: BigInt(block) * 10n ** 30n,
}))

export const exampleRows: Partial<Record<TableName, readonly ExampleRow[]>> = {
  blocks,
  txs,
  logs,
  token_transfers: transfers,
}
