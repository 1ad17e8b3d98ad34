/** block:created: a block. */
import { isoSeconds } from '#http/schema.ts'
import type { StoredRow } from '#store/read/lists/row.ts'
import { conditionOn, type EventFields, formsOf, readFields } from '../filters/eventFilter.ts'
import { address, quantity } from '../filters/operators.ts'
import { defineEventType, nothingNeeded } from './eventType.ts'

type Block = StoredRow<'blocks'>

const fields: EventFields<Block> = {
  number: conditionOn(quantity, ({ num }) => [BigInt(num)], 'number'),
  miner: conditionOn(address, ({ miner }) => [miner], 'miner'),
  // Nodes do not tell accounts of proposers: a field that is missing never matches.
  proposer: conditionOn(address, () => []),
  gasUsed: conditionOn(quantity, ({ gas_used: used }) => [BigInt(used)]),
  gasLimit: conditionOn(quantity, ({ gas_limit: limit }) => [BigInt(limit)]),
  timestamp: conditionOn(quantity, ({ timestamp }) => [BigInt(timestamp)]),
}

export const blockCreated = defineEventType<Block>({
  type: 'block:created',
  description: 'A new block.',
  stream: 'blocks',
  table: 'blocks',
  needsFilters: false,
  filterForms: formsOf(fields),
  read: (filters) => ({
    filter: readFields(fields, filters),
    form: 'block',
    needs: nothingNeeded,
    data: (row) => ({
      number: Number(row.num),
      hash: row.hash,
      parentHash: row.parent_hash,
      miner: row.miner,
      gasUsed: row.gas_used,
      gasLimit: row.gas_limit,
      transactionCount: row.tx_count,
      timestamp: isoSeconds(row.timestamp),
    }),
  }),
  eventsOf: ({ blocks }) => blocks,
  placeOf: ({ num }) => ({ blockNumber: Number(num), index: 0 }),
})
