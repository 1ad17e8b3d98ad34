/**
 * The one declaration of every physical table: what a row holds, in the order it is stored.
 *
 * Derived from it: the Postgres COPY encoder, the ClickHouse Native encoder, the canonical row
 * bytes behind digests, the row types, and the drift test that compares both live schemas with this
 * file. A new column is one line here, one in `columnDocs.ts`, one in the row's builder and one
 * migration per engine.
 *
 * Names are those analysts know (`block_num`, `tx_idx`, `log_idx`, `topic0`). Order matters:
 * 256-bit columns come behind the others, because the canonical bytes of a row are its Postgres wire
 * fields followed by its 256-bit values as text (digest.ts); columns that were added to stored rows
 * (`+`) are last, as Postgres has them.
 */

import type { BytesAt } from '#ingest/read/json/ByteBuffer.ts'
import { columnDocs, type TableDoc } from './columnDocs.ts'

/**
 * Column types and what they are in each engine:
 *
 * | type      | TypeScript        | Postgres       | ClickHouse        |
 * | --------- | ----------------- | -------------- | ----------------- |
 * | `uint8`   | number            | smallint       | UInt8             |
 * | `int8`    | number            | smallint       | Int8              |
 * | `uint32`  | number            | integer        | UInt32            |
 * | `uint53`  | number            | bigint         | UInt64            |
 * | `uint64`  | number or bigint  | bigint (bits)  | UInt64            |
 * | `bool`    | boolean           | boolean        | Bool              |
 * | `seconds` | number (Unix)     | timestamptz    | DateTime('UTC')   |
 * | `address` | `0x` + 40 hex     | bytea          | FixedString(20)   |
 * | `hash`    | `0x` + 64 hex     | bytea          | FixedString(32)   |
 * | `bytes`   | hex or Uint8Array | bytea          | String            |
 * | `text`    | string            | text           | String            |
 * | `uint256` | bigint            | numeric(78,0)  | UInt256           |
 *
 * `uint53` is a number that JavaScript holds exactly: heights, gas used, milliseconds. `uint64` is any
 * number of 64 bits, which senders choose: nonces, gas offered, bounds in time. Postgres has no
 * unsigned type, so a bigint holds its bits: what is negative there stands for 2^64 more
 * (`uint64Sql` of store/sql.ts). Not numeric: a change of type would rewrite a table under a lock.
 */
export type ColumnType =
  | 'uint8'
  | 'int8'
  | 'uint32'
  | 'uint53'
  | 'uint64'
  | 'bool'
  | 'seconds'
  | 'address'
  | 'hash'
  | 'bytes'
  | 'text'
  | 'uint256'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  /**
   * Added when rows were stored already, which have NULL there and keep their digests: a NULL is no
   * part of them (digest.ts).
   */
  readonly isAdded: boolean
  /** Its meaning, for readers of a database. */
  readonly doc: string
}

/**
 * `both` engines; only Postgres: the ledger's own, raw archive and proofs; or only ClickHouse: rows
 * that tell again, in an order of their own, what rows of other tables tell. Postgres, which has
 * indexes for that, has a view in their place.
 */
export type Stores = 'both' | 'postgres' | 'clickhouse'

export interface Table {
  readonly name: TableName
  /** The meaning of one row. */
  readonly doc: string
  readonly stores: Stores
  /** The column holding the row's block; partition key in both engines. */
  readonly blockColumn: string
  /**
   * The columns that identify a row within the chain: Postgres primary key, and the tie-break of every
   * order.
   */
  readonly key: readonly string[]
  readonly columns: readonly Column[]
}

/** `?` may be NULL; so may `+`, which was added later and is none of 256 bits. */
type Definition = Readonly<
  Record<string, ColumnType | `${ColumnType}?` | `${Exclude<ColumnType, 'uint256'>}+`>
>

const definitions = {
  /** One row: one block header. */
  blocks: {
    num: 'uint53',
    hash: 'hash',
    parent_hash: 'hash',
    timestamp: 'seconds',
    timestamp_ms: 'uint53',
    gas_limit: 'uint64',
    gas_used: 'uint53',
    miner: 'address',
    extra_data: 'bytes',
    state_root: 'hash',
    transactions_root: 'hash',
    receipts_root: 'hash',
    size: 'uint53?',
    tx_count: 'uint32',
    log_count: 'uint32',
    consensus_proposer: 'hash?',
    base_fee_per_gas: 'uint256?',
    block_access_list_hash: 'hash+',
    slot_number: 'uint64+',
  },
  /**
   * One row: one transaction with its receipt (they are 1:1; `txs` and `receipts` are two views of
   * it).
   */
  txs: {
    block_num: 'uint53',
    idx: 'uint32',
    block_timestamp: 'seconds',
    hash: 'hash',
    type: 'uint8',
    from: 'address',
    to: 'address?',
    input: 'bytes',
    gas_limit: 'uint64',
    nonce: 'uint64?',
    nonce_key: 'hash?',
    fee_token: 'address?',
    calls: 'text?',
    call_count: 'uint32',
    valid_before: 'uint64?',
    valid_after: 'uint64?',
    signature_type: 'uint8?',
    status: 'uint8?',
    gas_used: 'uint53',
    cumulative_gas_used: 'uint53',
    contract_address: 'address?',
    fee_payer: 'address?',
    paid_fee_token: 'address?',
    log_count: 'uint32',
    value: 'uint256',
    gas_price: 'uint256?',
    max_fee_per_gas: 'uint256?',
    max_priority_fee_per_gas: 'uint256?',
    effective_gas_price: 'uint256?',
    fee_amount: 'uint256?',
  },
  /** One row: one log as emitted. */
  logs: {
    block_num: 'uint53',
    log_idx: 'uint32',
    block_timestamp: 'seconds',
    tx_idx: 'uint32',
    tx_hash: 'hash',
    address: 'address',
    topic0: 'hash?',
    topic1: 'hash?',
    topic2: 'hash?',
    topic3: 'hash?',
    data: 'bytes',
    is_virtual_forward: 'bool',
  },
  /**
   * One row: one well-formed Transfer of any contract, its memo joined from the following
   * TransferWithMemo.
   */
  token_transfers: {
    block_num: 'uint53',
    log_idx: 'uint32',
    block_timestamp: 'seconds',
    tx_idx: 'uint32',
    tx_hash: 'hash',
    token: 'address',
    from: 'address',
    to: 'address',
    memo: 'hash?',
    is_fee: 'bool',
    is_virtual_forward: 'bool',
    amount: 'uint256',
  },
  /**
   * One row: one movement of the chain's own coin, by a log (EIP-7708) or, where the transaction has
   * none, by its `value`.
   */
  native_transfers: {
    block_num: 'uint53',
    log_idx: 'uint32',
    block_timestamp: 'seconds',
    tx_idx: 'uint32',
    tx_hash: 'hash',
    from: 'address',
    to: 'address',
    is_logged: 'bool',
    is_value: 'bool',
    amount: 'uint256',
  },
  /** One row: one well-formed Approval of any contract. */
  token_approvals: {
    block_num: 'uint53',
    log_idx: 'uint32',
    block_timestamp: 'seconds',
    tx_idx: 'uint32',
    tx_hash: 'hash',
    token: 'address',
    owner: 'address',
    spender: 'address',
    amount: 'uint256',
  },
  /**
   * One row: one side of a transfer, seen from the account whose balance changed (`leg` +1
   * received, -1 sent).
   */
  holder_deltas: {
    block_num: 'uint53',
    log_idx: 'uint32',
    leg: 'int8',
    block_timestamp: 'seconds',
    tx_idx: 'uint32',
    tx_hash: 'hash',
    token: 'address',
    holder: 'address',
    counterparty: 'address',
    amount: 'uint256',
  },
  /** One row: one account's part in a transaction (`direction` 0 sender, 1 recipient). */
  address_txs: {
    block_num: 'uint53',
    tx_idx: 'uint32',
    direction: 'uint8',
    block_timestamp: 'seconds',
    tx_hash: 'hash',
    address: 'address',
    counterparty: 'address?',
  },
  /** One row: one contract created by a transaction. */
  contract_creations: {
    block_num: 'uint53',
    tx_idx: 'uint32',
    block_timestamp: 'seconds',
    tx_hash: 'hash',
    creator: 'address',
    contract: 'address',
  },
  /**
   * One row: a piece of the node's own answer, zstd: part 0 the block without its transactions,
   * part n the transactions (n-1)*16 to n*16-1 with their receipts. Feeds meta.rpc, re-derivation,
   * rebuilds, verify and proofs.
   */
  raw: {
    block_num: 'uint53',
    part: 'uint32',
    payload: 'bytes',
  },
  /** One row: what was proved of a block when it was stored (see BlockProof in ingest/verify). */
  block_proofs: {
    block_num: 'uint53',
    header: 'uint8',
    transactions_root: 'uint8',
    receipts_root: 'uint8',
    bloom: 'uint8',
    unprovable_txs: 'uint32',
  },
} as const satisfies Record<string, Definition>

export type TableName = keyof typeof definitions

const keys: Record<TableName, readonly string[]> = {
  blocks: ['num'],
  txs: ['block_num', 'idx'],
  logs: ['block_num', 'log_idx'],
  token_transfers: ['block_num', 'log_idx'],
  native_transfers: ['block_num', 'log_idx', 'tx_idx'],
  token_approvals: ['block_num', 'log_idx'],
  holder_deltas: ['block_num', 'log_idx', 'leg'],
  address_txs: ['block_num', 'tx_idx', 'direction'],
  contract_creations: ['block_num', 'tx_idx'],
  raw: ['block_num', 'part'],
  block_proofs: ['block_num'],
}

const storedOnlyIn: Readonly<Partial<Record<TableName, Stores>>> = {
  holder_deltas: 'clickhouse',
  address_txs: 'clickhouse',
  raw: 'postgres',
  block_proofs: 'postgres',
}

/** A column without a text does not compile. */
const docs: { readonly [Name in TableName]: TableDoc<keyof (typeof definitions)[Name] & string> } = columnDocs

type Value<T extends ColumnType> = T extends 'bool'
  ? boolean
  : T extends 'uint256'
    ? bigint
    : T extends 'uint64'
      ? number | bigint
      : T extends 'address' | 'hash' | 'text'
        ? string
        : T extends 'bytes'
          ? string | Uint8Array
          : number

type ValueOf<D> = D extends `${infer T extends ColumnType}${'?' | '+'}`
  ? Value<T> | null
  : D extends ColumnType
    ? Value<D>
    : never

/** A row of a table with its values as they are. Lives inside one worker; never crosses threads. */
export type Row<Name extends TableName> = {
  readonly [Column in keyof (typeof definitions)[Name]]: ValueOf<(typeof definitions)[Name][Column]>
}

/**
 * A row as encoders take it: bytes and 256-bit values may be given by their place among the values
 * of the block.
 */
export type StoredRow<Name extends TableName> = {
  readonly [Column in keyof Row<Name>]: Row<Name>[Column] | PlaceOf<(typeof definitions)[Name][Column]>
}

type PlaceOf<D> = D extends `${'address' | 'hash' | 'bytes' | 'uint256'}${'' | '?' | '+'}` ? BytesAt : never

/** All tables, in the order they are written. */
export const tables: { readonly [Name in TableName]: Table } = build()

export const tableNames = Object.keys(definitions) as TableName[]

/** The tables Postgres stores: all but those it has a view for. */
export const ledgerTableNames = tableNames.filter((name) => tables[name].stores !== 'clickhouse')

/** The tables ClickHouse stores. */
export const analyticsTableNames = tableNames.filter((name) => tables[name].stores !== 'postgres')

/**
 * The derived tables; each has a coverage of its own, so that it can be derived again from the raw
 * archive.
 */
export const projectionNames = [
  'base',
  'token_transfers',
  'native_transfers',
  'token_approvals',
  'holder_deltas',
  'address_txs',
  'contract_creations',
] as const
export type ProjectionName = (typeof projectionNames)[number]

function build(): { readonly [Name in TableName]: Table } {
  const entries = Object.entries(definitions).map(([name, definition]) => [
    name,
    table(name as TableName, definition),
  ])
  return Object.fromEntries(entries)
}

function table(name: TableName, definition: Definition): Table {
  const texts: TableDoc<string> = docs[name]
  const columns = Object.entries(definition).map(([column, type]) => ({
    name: column,
    type: type.replace(/[?+]$/, '') as ColumnType,
    nullable: /[?+]$/.test(type),
    isAdded: type.endsWith('+'),
    doc: texts.columns[column] ?? '',
  }))
  return {
    name,
    doc: texts.row,
    stores: storedOnlyIn[name] ?? 'both',
    blockColumn: name === 'blocks' ? 'num' : 'block_num',
    key: keys[name],
    columns,
  }
}
