/** Reads of pairs: by creation, or by what asks offer. */
import type { Address } from '#primitives.ts'
import { pairsTable } from '../../follow/exchange/bookStates.ts'
import { Parameters, relationOf, toBytes } from '../../sql.ts'
import { pageOf } from '../lists/page.ts'
import { pinOf } from '../lists/pinned.ts'
import type { PageRequest, WalkPage } from '../lists/read.ts'
import {
  type BookMoment,
  type ExchangeChain,
  findPairOf,
  type PairColumns,
  type PairRow,
  pairRow,
  readBook,
} from './exchangeChain.ts'
import { compileStatesAt, countStatesAt } from './statesAt.ts'

export type PairSort = 'created' | 'liquidity'

export interface PairPage extends Omit<WalkPage<PairRow>, 'next'> {
  readonly next: readonly (number | string)[] | null
}

/** Pairs are counted up to here. */
const TOTAL_COUNT_MAX = 10_000

const emptyPage: PairPage = { rows: [], next: null, totalCount: 0, totalCountCapped: false }

/**
 * Pairs as they stand after the block of the walk's first page. Ties by base token, then by key.
 */
export function listPairs(chain: ExchangeChain, sort: PairSort, page: PageRequest): Promise<PairPage> {
  if (chain.kind !== 'tempo') return Promise.resolve(emptyPage)
  const { finalized } = chain.state
  return readBook(chain, page.signal, async (moment) => {
    const { client, schema, tip } = moment
    const pinned = Number(page.position?.at(-1) ?? tip)
    const { block, marks } = await pinOf({ client, schema, finalized }, page, {
      pinned,
      atBlock: undefined,
      tip,
    })
    const parameters = new Parameters()
    const text = compileStatesAt(schema, queryOf(sort, block, page, parameters), parameters)
    const found = await client.query<PairColumns>(text, parameters.values)
    return {
      ...pageOf(found.rows.map(pairRow), page.limit, (last) => [...positionOf(sort, last), block]),
      ...marks,
      ...(page.wantTotal && { totalCount: await countPairs(moment, block) }),
    }
  })
}

function queryOf(sort: PairSort, block: number, page: PageRequest, parameters: Parameters) {
  const { order, limit, offset, position } = page
  const common = { table: pairsTable.name, block, branches: ['true'], limit: limit + 1, offset }
  if (sort === 'created')
    return {
      ...{ ...common, order, orderBy: ['created_block', 'created_log_idx', 'pair'] },
      after: position && [
        parameters.add(position[0]),
        parameters.add(position[1]),
        parameters.bytes(`${position[2]}`),
      ],
    }
  // Most first is ascending in the negative, so that equal ones stand by their base token.
  const turned = order === 'desc' ? 'asc' : 'desc'
  return {
    ...({ ...common, order: turned, orderBy: ['(-reserve0)', 'base', 'pair'] } as const),
    after: position && [
      `(-${parameters.add(position[0])}::numeric)`,
      parameters.bytes(`${position[1]}`),
      parameters.bytes(`${position[2]}`),
    ],
  }
}

const positionOf = (sort: PairSort, row: PairRow): readonly (number | string)[] =>
  sort === 'created' ? [row.blockNumber, row.logIndex, row.key] : [`${row.reserve0}`, row.base, row.key]

const countPairs = (moment: BookMoment, block: number): Promise<number> =>
  countStatesAt(
    moment,
    { table: pairsTable.name, block, branches: ['true'] },
    new Parameters(),
    TOTAL_COUNT_MAX,
  )

/** The pair of a base token and its present quote token; null where there is none. */
export async function readPair(
  chain: ExchangeChain,
  base: Address,
  signal: AbortSignal,
): Promise<PairRow | null> {
  if (chain.kind !== 'tempo') return null
  return readBook(chain, signal, (moment) => findPairOf(moment, base, moment.tip))
}

/** Whether the token is the base of any pair. */
export async function isBase({ client, schema }: BookMoment, base: Address): Promise<boolean> {
  const found = await client.query(
    `SELECT FROM ${relationOf(schema, `${pairsTable.name}_current`)} WHERE base = $1 LIMIT 1`,
    [toBytes(base)],
  )
  return found.rows.length > 0
}
