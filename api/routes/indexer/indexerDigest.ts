/**
 * GET /v1/indexer/digest: the content of a range of blocks in both stores, digested by each engine
 * from its own rows.
 */

import { endpoint, notValid } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { dataRead } from '#http/request/access.ts'
import { rangeInvalid } from '#http/request/bounds.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { covers, intersection } from '#ingest/range.ts'
import { newestShared } from '#store/compare/parity.ts'
import { type ParityReads, type ReadServices, readsOf } from '../../services.ts'

export interface ParityServices {
  readonly parity: ReadonlyMap<number, ParityReads>
}

/** A statement a table and store; a thousand blocks are some hundred thousand rows. */
const BLOCKS_MAX = 1_000
const BLOCKS_DEFAULT = 100

const held = s.object({
  rows: s.count,
  digest: s.text({
    description: 'Sum of CRC32 over the canonical bytes of the rows.',
    examples: ['4294967296'],
  }),
})

const digests = s.named('StoreDigests', {
  from: s.count,
  to: s.count,
  equal: s.boolean(),
  tables: s.array(
    s.object({
      table: s.text(),
      equal: s.boolean(),
      firstDifference: s.nullable(s.count),
      postgres: held,
      clickhouse: held,
    }),
  ),
})

export const readIndexerDigestEndpoint = endpoint({
  path: '/v1/indexer/digest',
  summary: 'Whether both stores hold the same rows of a range of blocks.',
  access: dataRead,
  errors: ['coverage_incomplete', 'range_invalid', 'upstream_error'],
  filters: {
    from: p.described(p.integer(0), 'First block. Default: 100 blocks up to `to`.'),
    to: p.described(p.integer(0), 'Last block. Default: the newest that both stores hold.'),
  },
  check: ({ from, to }) => {
    if (from === undefined || to === undefined) return undefined
    if (to < from) return rangeInvalid('from', '`from` lies after `to`')
    return to - from < BLOCKS_MAX ? undefined : notValid('to', `a range has at most ${BLOCKS_MAX} blocks`)
  },
  response: digests,
  read: async ({ chainId, filters }, services: ReadServices & ParityServices) => {
    const { state } = readsOf(services, chainId)
    state.demand.ask()
    const [postgres, clickhouse] = [state.coverage('postgres'), state.coverage('clickhouse')]
    const newest = newestShared(postgres, clickhouse)
    const to =
      filters.to ??
      (filters.from === undefined
        ? newest?.to
        : Math.min(newest?.to ?? -1, filters.from + BLOCKS_DEFAULT - 1))
    if (to === undefined) throw new ApiError('coverage_incomplete', 'No block is held by both stores yet.')
    const first = newest && to <= newest.to && to >= newest.from ? newest.from : 0
    const from = filters.from ?? Math.max(first, to - BLOCKS_DEFAULT + 1)
    const range = { from, to }
    if (!covers(intersection(postgres, clickhouse), range))
      throw new ApiError('coverage_incomplete', `Blocks ${from} to ${to} are not all held by both stores.`)
    const parity = services.parity.get(chainId)
    if (!parity) throw new Error(`chain ${chainId} is served but not compared`)
    return { range, tables: await parity.compare(range) }
  },
  present: ({ range, tables }) => ({
    from: range.from,
    to: range.to,
    equal: tables.every(({ firstDifference }) => firstDifference === null),
    tables: tables.map(({ table, firstDifference, postgres, clickhouse }) => ({
      table,
      equal: firstDifference === null,
      firstDifference,
      postgres: { ...postgres },
      clickhouse: { ...clickhouse },
    })),
  }),
  cache: 'feed',
})
