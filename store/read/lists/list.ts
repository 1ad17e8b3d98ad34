/** A list of rows as a value: which table, in which order, which filters. */
import type { TableName } from '#transform/tables.ts'

export interface List<Name extends TableName = TableName> {
  readonly table: Name
  /** Sort key, ascending sense; unique within the table, its first column the block. */
  readonly key: readonly string[]
  /** The columns to filter by. Each has an index that begins with the column, then the key. */
  readonly filters: Readonly<Record<string, Filter>>
  /**
   * Columns of which two are filtered by together. Each pair has an index that begins with a hash
   * of both, then the key.
   */
  readonly pairs: readonly (readonly [string, string])[]
}

/** Every two of some columns. */
const pairsOf = (...columns: readonly string[]): (readonly [string, string])[] =>
  columns.flatMap((first, index) => columns.slice(index + 1).map((second) => [first, second] as const))

/**
 * `equals`: the column has the value. `either`: one of the columns has it; compiled to one indexed
 * branch per column, because an OR over two columns is served by no index. `is`: the column has the
 * one value named here. `tip20`: the column is the address of a TIP-20 token, or (for `false`) is
 * not; written as constants, because a planner takes a partial index only for a condition it can
 * compare with the index's own.
 */
export type Filter =
  | { readonly kind: 'equals'; readonly column: string }
  | { readonly kind: 'either'; readonly columns: readonly string[] }
  | { readonly kind: 'is'; readonly column: string; readonly value: number | boolean }
  | { readonly kind: 'tip20'; readonly column: string }

/**
 * A value to filter by, as the API has it: `0x` hex for bytes, numbers, booleans. `true` switches
 * an `is` filter on; of a `tip20` filter `true` and `false` are the two halves.
 */
export type FilterValue = string | number | boolean

/** A block that could still change when a walk passed it. */
export interface BlockMark {
  readonly number: number
  readonly hash: string
}

/** A page to read, bounded by what may be seen. */
export interface ListQuery {
  readonly order: 'asc' | 'desc'
  /** Rows wanted; ask for one more than the page to learn whether the list goes on. */
  readonly limit: number
  readonly offset: number
  /** Continue after the row with this sort key. */
  readonly position?: readonly number[]
  readonly filters: Readonly<Record<string, FilterValue>>
  /** Inclusive bounds of the blocks that may be seen. */
  readonly fromBlock: number
  readonly toBlock: number
}

export const blockList = {
  table: 'blocks',
  key: ['num'],
  filters: {},
  pairs: [],
} as const satisfies List

export const transactionList = {
  table: 'txs',
  key: ['block_num', 'idx'],
  filters: {
    address: { kind: 'either', columns: ['from', 'to'] },
    sender: { kind: 'equals', column: 'from' },
    recipient: { kind: 'equals', column: 'to' },
    feePayer: { kind: 'equals', column: 'fee_payer' },
    feeToken: { kind: 'equals', column: 'paid_fee_token' },
    reverted: { kind: 'is', column: 'status', value: 0 },
    succeeded: { kind: 'is', column: 'status', value: 1 },
  },
  pairs: pairsOf('from', 'to', 'fee_payer', 'paid_fee_token', 'status'),
} as const satisfies List

export const transferList = {
  table: 'token_transfers',
  key: ['block_num', 'log_idx'],
  filters: {
    address: { kind: 'either', columns: ['from', 'to'] },
    sender: { kind: 'equals', column: 'from' },
    recipient: { kind: 'equals', column: 'to' },
    token: { kind: 'equals', column: 'token' },
    tip20: { kind: 'tip20', column: 'token' },
  },
  pairs: pairsOf('from', 'to', 'token'),
} as const satisfies List

/** As transfers are filtered, but by no token. */
export const nativeTransferList = {
  table: 'native_transfers',
  key: ['block_num', 'log_idx', 'tx_idx'],
  filters: {
    address: { kind: 'either', columns: ['from', 'to'] },
    sender: { kind: 'equals', column: 'from' },
    recipient: { kind: 'equals', column: 'to' },
  },
  pairs: pairsOf('from', 'to'),
} as const satisfies List
