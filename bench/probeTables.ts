/**
 * The four tables of the bare probe: what a node says, field by field in the order it says it, and
 * nothing derived.
 */

export type ProbeKind = 'number' | 'hash' | 'address' | 'bytes' | 'json' | 'topics'

export interface ProbeTable {
  readonly name: string
  /** By the keys of the canned chain's JSON, in their order there. `topics` makes four columns. */
  readonly fields: Readonly<Record<string, ProbeKind>>
  readonly key: readonly string[]
}

export const probeTables = {
  blocks: {
    name: 'blocks',
    fields: {
      number: 'number',
      hash: 'hash',
      parentHash: 'hash',
      timestamp: 'number',
      miner: 'address',
      stateRoot: 'hash',
      transactionsRoot: 'hash',
      receiptsRoot: 'hash',
      gasLimit: 'number',
      gasUsed: 'number',
      extraData: 'bytes',
      mixHash: 'hash',
      baseFeePerGas: 'number',
      size: 'number',
    },
    key: ['number'],
  },
  transactions: {
    name: 'transactions',
    fields: {
      nonce: 'number',
      maxPriorityFeePerGas: 'number',
      maxFeePerGas: 'number',
      gas: 'number',
      blockNumber: 'number',
      transactionIndex: 'number',
      from: 'address',
      gasPrice: 'number',
      hash: 'hash',
      to: 'address',
      input: 'bytes',
      calls: 'json',
    },
    key: ['blockNumber', 'transactionIndex'],
  },
  receipts: {
    name: 'receipts',
    fields: {
      status: 'number',
      transactionHash: 'hash',
      transactionIndex: 'number',
      blockNumber: 'number',
      from: 'address',
      to: 'address',
      contractAddress: 'address',
      feePayer: 'address',
      feeToken: 'address',
      gasUsed: 'number',
      cumulativeGasUsed: 'number',
      effectiveGasPrice: 'number',
    },
    key: ['blockNumber', 'transactionIndex'],
  },
  logs: {
    name: 'logs',
    fields: {
      address: 'address',
      topics: 'topics',
      data: 'bytes',
      logIndex: 'number',
      transactionIndex: 'number',
      transactionHash: 'hash',
      blockNumber: 'number',
    },
    key: ['blockNumber', 'logIndex'],
  },
} as const satisfies Record<string, ProbeTable>

export const probeTableList: readonly ProbeTable[] = Object.values(probeTables)

/** Columns as the stores have them; absent values are NULL in Postgres and zeros in ClickHouse. */
export function probeColumns(
  table: ProbeTable,
): readonly { readonly name: string; readonly kind: ProbeKind }[] {
  return Object.entries(table.fields).flatMap(([name, kind]) =>
    kind === 'topics'
      ? [0, 1, 2, 3].map((n) => ({ name: `topic${n}`, kind: 'hash' as const }))
      : [{ name, kind }],
  )
}

export const postgresTypeOf = (kind: ProbeKind): string => (kind === 'number' ? 'bigint' : 'bytea')

export function clickhouseTypeOf(kind: ProbeKind): string {
  if (kind === 'number') return 'UInt64'
  if (kind === 'hash') return 'FixedString(32)'
  return kind === 'address' ? 'FixedString(20)' : 'String'
}
