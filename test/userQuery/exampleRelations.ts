/** The base relations as users know them, for tests that need no running chain. */

import type { RangeSet } from '#ingest/range.ts'
import { bindViews, type Catalog, type LogicalType, type Relation } from '#store/userQuery/relations.ts'

const columns = (definition: Record<string, LogicalType>) =>
  Object.entries(definition).map(([name, type]) => ({ name, type }))

const relations: readonly Relation[] = [
  {
    name: 'blocks',
    blockColumn: 'num',
    columns: columns({
      num: 'bigint',
      hash: 'bytes',
      parent_hash: 'bytes',
      timestamp: 'timestamp',
      timestamp_ms: 'bigint',
      gas_limit: 'bigint',
      gas_used: 'bigint',
      miner: 'bytes',
      extra_data: 'bytes',
    }),
  },
  {
    name: 'txs',
    blockColumn: 'block_num',
    columns: columns({
      block_num: 'bigint',
      block_timestamp: 'timestamp',
      idx: 'int',
      hash: 'bytes',
      type: 'int',
      from: 'bytes',
      to: 'bytes',
      value: 'numeric',
      input: 'bytes',
      gas_limit: 'bigint',
      gas_used: 'bigint',
      nonce: 'bigint',
      calls: 'json',
      call_count: 'int',
    }),
  },
  {
    name: 'logs',
    blockColumn: 'block_num',
    columns: columns({
      block_num: 'bigint',
      block_timestamp: 'timestamp',
      log_idx: 'int',
      tx_idx: 'int',
      tx_hash: 'bytes',
      address: 'bytes',
      selector: 'bytes',
      topic0: 'bytes',
      topic1: 'bytes',
      topic2: 'bytes',
      topic3: 'bytes',
      data: 'bytes',
      is_virtual_forward: 'bool',
    }),
  },
  {
    name: 'receipts',
    blockColumn: 'block_num',
    columns: columns({
      block_num: 'bigint',
      block_timestamp: 'timestamp',
      tx_idx: 'int',
      tx_hash: 'bytes',
      from: 'bytes',
      to: 'bytes',
      contract_address: 'bytes',
      gas_used: 'bigint',
      cumulative_gas_used: 'bigint',
      effective_gas_price: 'numeric',
      status: 'int',
      fee_payer: 'bytes',
    }),
  },
]

/** The example relations bound to the views of `schema`, within `ranges` when given. */
export function exampleCatalog(schema: string, ranges?: RangeSet): Catalog {
  return bindViews(relations, schema, ranges ? () => ranges : undefined)
}

export { relations as exampleRelations }
