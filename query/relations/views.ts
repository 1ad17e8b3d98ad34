/**
 * The views of analysts: one per relation, the same names, columns and meaning on both engines. Declared
 * once, so that the two engines cannot drift apart; `setup/replaceViews.ts` makes them. Column names are
 * those of the reference indexer.
 */
import type { Engine } from '#primitives.ts'
import { feeTypes, uint256Max } from '#transform/rows/feeUnknown.ts'
import { type ColumnType, type TableName, tables } from '#transform/tables.ts'
import type { LogicalType } from '../logicalType.ts'
import { balanceRelations } from './balances.ts'
import type { Relation } from './catalog.ts'
import type { DescribedColumn } from './derivedRelation.ts'
import { exchangeRelations } from './exchange.ts'

/**
 * A column of a view: a physical column under the same or another name, or an expression where the
 * engines differ.
 */
export interface ViewColumn {
  readonly name: string
  readonly source:
    | string
    | { readonly postgres: string; readonly clickhouse: string; readonly type: LogicalType }
  /** The comment, if it differs from the stored column's own text (`transform/columnDocs.ts`). */
  readonly comment?: string
}

export interface View {
  readonly name: string
  readonly table: TableName
  readonly comment: string
  readonly columns: readonly ViewColumn[]
}

const same = (...names: string[]): ViewColumn[] => names.map((name) => ({ name, source: name }))
const renamed = (name: string, source: string): ViewColumn => ({ name, source })

const place = [...same('block_num', 'block_timestamp')]
const inTx = [...same('tx_idx', 'tx_hash')]
const ofLog = [...place, ...same('log_idx'), ...inTx]

/** A two-valued code as the word analysts know. */
const word = (column: string, value: number, yes: string, no: string): ViewColumn['source'] => ({
  postgres: `CASE ${column} WHEN ${value} THEN '${yes}' ELSE '${no}' END`,
  clickhouse: `if(t.${column} = ${value}, '${yes}', '${no}')`,
  type: 'text',
})

/** `feeUnknownOf` in SQL. */
const feeUnknown: ViewColumn['source'] = {
  postgres: `CASE WHEN fee_amount IS NOT NULL THEN NULL WHEN type NOT IN (${feeTypes.join()}) THEN 'type' WHEN coalesce(effective_gas_price, gas_price) IS NULL OR coalesce(effective_gas_price, gas_price) > div(${uint256Max}, greatest(gas_used, 1)) THEN 'price' ELSE 'terms' END`,
  clickhouse: `multiIf(t.fee_amount IS NOT NULL, NULL, t.type NOT IN (${feeTypes.join()}), 'type', coalesce(t.effective_gas_price, t.gas_price) IS NULL OR coalesce(t.effective_gas_price, t.gas_price) > intDiv(toUInt256('${uint256Max}'), toUInt256(greatest(t.gas_used, 1))), 'price', 'terms')`,
  type: 'text',
}

const holderDelta = [...same('token', 'holder', 'leg'), renamed('balance_delta', 'amount')]

export const views: readonly View[] = [
  {
    name: 'blocks',
    table: 'blocks',
    comment: 'one block header',
    columns: [
      ...same(
        'num',
        'hash',
        'parent_hash',
        'timestamp',
        'timestamp_ms',
        'gas_limit',
        'gas_used',
        'miner',
        'extra_data',
        'consensus_proposer',
        'state_root',
        'transactions_root',
        'receipts_root',
        'tx_count',
        'log_count',
        'size',
        'base_fee_per_gas',
        'block_access_list_hash',
        'slot_number',
      ),
    ],
  },
  {
    name: 'txs',
    table: 'txs',
    comment: 'one transaction',
    columns: [
      ...place,
      ...same(
        'idx',
        'hash',
        'type',
        'from',
        'to',
        'value',
        'input',
        'gas_limit',
        'gas_used',
        'gas_price',
        'max_fee_per_gas',
        'max_priority_fee_per_gas',
        'nonce_key',
        'nonce',
      ),
      {
        name: 'fee_token',
        source: 'fee_token',
        comment:
          'fee token the transaction asked for; null where it asked for none; what was paid is in `receipts`',
      },
      ...same('fee_payer', 'calls', 'call_count', 'valid_before', 'valid_after', 'signature_type'),
    ],
  },
  {
    name: 'receipts',
    table: 'txs',
    comment: 'one receipt',
    columns: [
      ...place,
      renamed('tx_idx', 'idx'),
      renamed('tx_hash', 'hash'),
      ...same(
        'type',
        'from',
        'to',
        'contract_address',
        'gas_used',
        'cumulative_gas_used',
        'effective_gas_price',
        'status',
        'fee_payer',
      ),
      renamed('fee_token', 'paid_fee_token'),
      ...same('fee_amount', 'log_count'),
      {
        name: 'fee_unknown',
        source: feeUnknown,
        comment:
          'why fee_amount is null, and null where it is not: `type` (what transactions of this type pay is not known, or others pay it), `price` (none is told, or one that nobody could have paid), `terms` (the receipt has terms of a fee by no known rule, or only a part of them)',
      },
    ],
  },
  {
    name: 'logs',
    table: 'logs',
    comment: 'one log as emitted',
    columns: [
      ...ofLog,
      ...same('address'),
      renamed('selector', 'topic0'),
      ...same('topic0', 'topic1', 'topic2', 'topic3', 'data', 'is_virtual_forward'),
    ],
  },
  {
    name: 'token_transfers',
    table: 'token_transfers',
    comment:
      'one ERC-20 Transfer of any contract: three topics and 32 bytes of data; logs of other forms under its topic (NFTs, other lengths of data, topics whose upper 12 bytes are not zero) are in logs alone',
    columns: [...ofLog, ...same('token', 'from', 'to', 'amount', 'is_virtual_forward', 'memo', 'is_fee')],
  },
  {
    name: 'native_transfers',
    table: 'native_transfers',
    comment:
      'one movement of the native coin: each that is logged (EIP-7708), internal ones too; before a chain logs them, the value of a transaction that succeeded. Complete from the first block with is_logged on',
    columns: [
      ...ofLog,
      {
        name: 'token',
        source: {
          postgres: 'NULL::bytea',
          clickhouse: 'CAST(NULL AS Nullable(FixedString(20)))',
          type: 'bytes',
        },
        comment: 'null: the native coin is no token',
      },
      ...same('from', 'to', 'amount', 'is_logged', 'is_value'),
    ],
  },
  {
    name: 'token_approvals',
    table: 'token_approvals',
    comment:
      'one ERC-20 Approval of any contract: three topics and 32 bytes of data; other forms, and topics whose upper 12 bytes are not zero, are in logs alone',
    columns: [...ofLog, ...same('token', 'owner', 'spender', 'amount')],
  },
  {
    name: 'token_holder_deltas',
    table: 'holder_deltas',
    comment: 'one side of a row of token_transfers, by token',
    columns: [...ofLog, ...holderDelta],
  },
  {
    name: 'address_holder_deltas',
    table: 'holder_deltas',
    comment: 'one side of a row of token_transfers, by holder',
    columns: [...ofLog, ...holderDelta],
  },
  {
    name: 'address_transfers',
    table: 'holder_deltas',
    comment: 'one row of token_transfers as one account saw it',
    columns: [
      ...ofLog,
      renamed('address', 'holder'),
      { name: 'direction', source: word('leg', 1, 'in', 'out'), comment: '`in` or `out`' },
      ...same('counterparty', 'token'),
      { name: 'amount', source: 'amount', comment: 'in the smallest unit of the token' },
    ],
  },
  {
    name: 'address_txs',
    table: 'address_txs',
    comment: 'one account’s part in a transaction',
    columns: [
      ...place,
      ...inTx,
      ...same('address'),
      { name: 'direction', source: word('direction', 0, 'from', 'to'), comment: '`from` or `to`' },
      ...same('counterparty'),
    ],
  },
  {
    name: 'contract_creations',
    table: 'contract_creations',
    comment: 'one contract created by a transaction',
    columns: [...place, ...inTx, ...same('creator', 'contract')],
  },
]

/** On Postgres analysts have the four base tables; ClickHouse has all. */
const postgresNames = new Set(['blocks', 'txs', 'receipts', 'logs'])

export const viewsOf = (engine: Engine): readonly View[] =>
  engine === 'clickhouse' ? views : views.filter((view) => postgresNames.has(view.name))

/** A relation with what its rows and columns are, in words. */
export interface DescribedRelation extends Relation {
  readonly comment: string
  readonly columns: readonly DescribedColumn[]
}

/** The relations that user SQL may name on an engine. */
export const relationsOf = (engine: Engine): DescribedRelation[] => [
  ...viewsOf(engine).map(relationOfView),
  ...(engine === 'clickhouse' ? [...balanceRelations, ...exchangeRelations] : []),
]

const relationOfView = (view: View): DescribedRelation => ({
  name: view.name,
  comment: view.comment,
  blockColumn: tables[view.table].blockColumn,
  columns: view.columns.map((column) => ({
    name: column.name,
    type: logicalType(view, column),
    ...formOf(view, column),
    comment: commentOf(view, column),
  })),
})

/** @throws where neither the view nor its column says something */
export function commentOf({ table, name: view }: View, { name, source, comment }: ViewColumn): string {
  const text = comment ?? tables[table].columns.find((column) => column.name === source)?.doc
  if (text === undefined) throw new Error(`column ${name} of view ${view} has no text`)
  return text
}

const widths: Readonly<Partial<Record<ColumnType, number>>> = { address: 20, hash: 32 }

function formOf(
  { table }: View,
  { source }: ViewColumn,
): { readonly width?: number; readonly isSmall?: true } {
  const physical = tables[table].columns.find((column) => column.name === source)
  if (physical?.type === 'uint8' || physical?.type === 'int8') return { isSmall: true }
  const width = physical && widths[physical.type]
  return width === undefined ? {} : { width }
}

const logicalTypes: Readonly<Record<ColumnType, LogicalType>> = {
  uint8: 'int',
  int8: 'int',
  uint32: 'int',
  uint53: 'bigint',
  // Postgres has no unsigned integers: one width further, as of unsigned values in logs.
  uint64: 'numeric',
  bool: 'bool',
  seconds: 'timestamp',
  address: 'bytes',
  hash: 'bytes',
  bytes: 'bytes',
  text: 'text',
  uint256: 'numeric',
}

function logicalType(view: View, { name, source }: ViewColumn): LogicalType {
  if (typeof source !== 'string') return source.type
  const column = tables[view.table].columns.find((candidate) => candidate.name === source)
  if (!column)
    throw new Error(`view ${view.name} names ${source} as ${name}, which ${view.table} does not have`)
  return logicalTypes[column.type]
}
