/** block:created: a block. */
import type { StoredRow } from '#store/read/lists/row.ts'
import { type Fields, readFields } from '../filters/eventFilter.ts'
import { address, type Kind, quantity, readCondition, type Value } from '../filters/operators.ts'
import { isoSeconds } from '../isoSeconds.ts'
import { defineEventType, nothingNeeded } from './eventType.ts'

type Block = StoredRow<'blocks'>

const of = (kind: Kind, values: (event: Block) => readonly Value[]) => ({
  values,
  read: (given: unknown, path: readonly string[]) => readCondition(kind, given, path),
})

const fields: Fields<Block> = {
  number: { ...of(quantity, ({ num }) => [BigInt(num)]), key: 'number' },
  miner: { ...of(address, ({ miner }) => [miner]), key: 'miner' },
  // Nodes do not tell accounts of proposers: a field that is missing never matches.
  proposer: of(address, () => []),
  gasUsed: of(quantity, ({ gas_used: used }) => [BigInt(used)]),
  gasLimit: of(quantity, ({ gas_limit: limit }) => [BigInt(limit)]),
  timestamp: of(quantity, ({ timestamp }) => [BigInt(timestamp)]),
}

export const blockCreated = defineEventType<Block>({
  type: 'block:created',
  description: 'A new block.',
  stream: 'blocks',
  table: 'blocks',
  needsFilters: false,
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
