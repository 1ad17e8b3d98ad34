/**
 * The contract of a projection: a pure function from one transaction's facts to rows of derived
 * tables. A log alone cannot give a row (the memo sits in the next log, the fee is the last log,
 * forwards match within a transaction), hence the transaction is the unit. Projections run in the
 * worker, after the base rows of the transaction are built, in block order; they see no clock, no
 * store and no other transaction.
 */
import type { BytesAt } from '#ingest/read/json/ByteBuffer.ts'
import type { Address, Hash, Hex } from '#primitives.ts'
import type { ChainProfile } from './profile.ts'
import type { ProjectionName, StoredRow, TableName } from './tables.ts'

/**
 * Declares a projection; the registry is `projections/index.ts`. `rows` gives the sinks of the
 * tables named, no others.
 */
export function defineProjection<const Name extends TableName>(definition: {
  /** The coverage that the rows belong to. */
  readonly name: DerivedProjectionName
  readonly tables: readonly Name[]
  project(tx: ProjectedTransaction, rows: Pick<RowSinks, Name>): void
}): Projection {
  return definition
}

export type DerivedProjectionName = Exclude<ProjectionName, 'base'>

export interface Projection {
  readonly name: DerivedProjectionName
  readonly tables: readonly TableName[]
  project(tx: ProjectedTransaction, rows: RowSinks): void
}

/**
 * The destination of rows. Rows are encoded at once and not kept; append them in the order of the table's
 * key.
 */
export type RowSinks = { readonly [Name in TableName]: RowSink<Name> }

export interface RowSink<Name extends TableName> {
  append(row: StoredRow<Name>): void
}

/** A log of the transaction as emitted, with what decoding found out about it. */
export interface LogFacts {
  readonly address: Address
  /** 0 to 4. */
  readonly topics: readonly Hash[]
  readonly data: Hex
  /** Block-wide, as `logs.log_idx`. */
  readonly logIndex: number
  /** Second hop of a transfer to a virtual address (TIP-1022). */
  readonly isVirtualForward: boolean
}

/** A value as rows take it: by itself, or by its place among the values of the block. */
export type Stored<Value> = Value | BytesAt

/**
 * A transaction as projections see it. In a worker its hash and accounts are places among the block's
 * values, so that no text is made to be decoded again; where a projection has to look at one, it asks
 * through `scannedTransfer.ts`.
 */
export interface ProjectedTransaction {
  readonly block: TransactionFacts['block']
  readonly txIndex: number
  readonly txHash: Stored<Hash>
  readonly from: Stored<Address>
  readonly to: Stored<Address> | null
  readonly contractAddress: Stored<Address> | null
  readonly status: 0 | 1 | null
  readonly paid: TransactionFacts['paid']
  readonly logsBefore: number
  readonly feeLogIndex: number | null
  readonly logs: readonly LogFacts[]
}

/** One transaction with its receipt and logs. Not to be kept or changed. */
export interface TransactionFacts {
  readonly profile: ChainProfile
  readonly block: { readonly number: number; readonly hash: Hash; readonly timestampSeconds: number }
  readonly txIndex: number
  readonly txHash: Hash
  /** EIP-2718 type; 0x76 on Tempo. */
  readonly type: number
  readonly from: Address
  /** As `txs.to`: for 0x76 the first call's target. */
  readonly to: Address | null
  /** From the receipt; nodes may name one for a reverted creation too, so look at `status`. */
  readonly contractAddress: Address | null
  /** 1 succeeded, 0 reverted, null before Byzantium. */
  readonly status: 0 | 1 | null
  /**
   * Its `value`, the chain's own coin in the smallest unit, where another account than the sender
   * gets it; else 0, and always on Tempo.
   */
  readonly paid: bigint
  /** Logs of the block before its own. */
  readonly logsBefore: number
  readonly feePayer: Address | null
  /**
   * Token the fee was really paid in; null for a chain's own coin, and for Tempo's free transactions.
   */
  readonly paidFeeToken: Address | null
  /** `logIndex` of the Transfer that paid the fee (always the transaction's last log), or null. */
  readonly feeLogIndex: number | null
  /** Ascending by `logIndex`. */
  readonly logs: readonly LogFacts[]
}
