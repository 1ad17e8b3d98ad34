/**
 * Reads of depth: what rests at each price, best prices first, now or after any block. It is asked
 * for more often than anything else of the exchange, so all of it is one prepared statement.
 */
import type { Address } from '#primitives.ts'
import { assertReached } from '../../follow/balances/moment.ts'
import { exchangeProjection } from '../../follow/exchange/bookFollower.ts'
import { levelsTable, pairsTable } from '../../follow/exchange/bookStates.ts'
import { quoteTokenSql } from '../../follow/exchange/quoteTokens.ts'
import { readFollowedRows } from '../../follow/readFollowed.ts'
import { relationOf, toBytes } from '../../sql.ts'
import { type ExchangeChain, type PairTokens, pairTokens } from './exchangeChain.ts'

export interface LevelRow {
  readonly tick: number
  readonly size: bigint
}

export interface Depth {
  readonly pair: PairTokens
  readonly bids: readonly LevelRow[]
  readonly asks: readonly LevelRow[]
}

/**
 * Up to `levels` of each side; null where the base token has no pair. @throws BlockNotReachedError
 */
export async function readDepth(
  chain: ExchangeChain,
  base: Address,
  { levels, atBlock }: { readonly levels: number; readonly atBlock?: number | undefined },
  signal: AbortSignal,
): Promise<Depth | null> {
  if (chain.kind !== 'tempo') return null
  const isPast = atBlock !== undefined
  const [row] = await readFollowedRows<DepthColumns>(chain, [exchangeProjection], signal, {
    text: depthSql(chain.state.schema, isPast),
    values: [toBytes(base), levels, ...(isPast ? [atBlock] : [])],
    ...{ key: 'asked', order: 'asked' },
  })
  if (isPast) assertReached(atBlock, row?.last_tip ?? -1)
  if (!row?.pair) return null
  return {
    pair: pairTokens({ ...row, pair: row.pair }),
    ...{ bids: levelsIn(row.bids), asks: levelsIn(row.asks) },
  }
}

interface DepthColumns extends Readonly<Record<string, unknown>> {
  /** Null where the base token has no pair. */
  readonly pair: Buffer | null
  readonly base: Buffer
  readonly quote: Buffer
  readonly bids: string | null
  readonly asks: string | null
}

/** `tick:size,tick:size`; as rows the driver would take longer for them than the server. */
const levelsIn = (text: string | null): readonly LevelRow[] =>
  text === null
    ? []
    : text.split(',').map((level) => {
        const [tick = '', size = ''] = level.split(':')
        return { tick: Number(tick), size: BigInt(size) }
      })

/** One row. $1: the base token, $2: levels, $3: a past block. */
function depthSql(schema: string, isPast: boolean): string {
  const block = isPast ? '$3::bigint' : 'place.last_tip'
  const quote = quoteTokenSql(schema, { token: '$1::bytea', block: `(${block} + 1)`, log: '0' })
  return `SELECT 1 AS asked, pair.pair, pair.base, pair.quote,
      (${sideSql(schema, true, isPast)}) AS bids, (${sideSql(schema, false, isPast)}) AS asks
    FROM (SELECT ${quote} AS quote) AS quoted
    LEFT JOIN ${relationOf(schema, `${pairsTable.name}_current`)} AS pair
      ON pair.base = $1 AND pair.quote = quoted.quote AND pair.created_block <= ${block}`
}

/** Levels of one side from the best price on, as `levelsIn` reads them. */
function sideSql(schema: string, isBid: boolean, isPast: boolean): string {
  const current = relationOf(schema, `${levelsTable.name}_current`)
  const byPrice = `ORDER BY tick ${isBid ? 'DESC' : 'ASC'}`
  const ofSide = `level.pair = pair.pair AND ${isBid ? '' : 'NOT '}level.is_bid`
  const found = isPast
    ? `SELECT tick, past.size FROM ${current} AS level CROSS JOIN LATERAL (
         SELECT size FROM ${relationOf(schema, `${levelsTable.name}_history`)} AS history
         WHERE history.level = level.level AND history.block_num <= $3
         ORDER BY history.block_num DESC, history.log_idx DESC LIMIT 1) AS past
       WHERE ${ofSide} AND past.size > 0`
    : `SELECT tick, size FROM ${current} AS level WHERE ${ofSide} AND size > 0`
  return `SELECT string_agg(tick || ':' || size, ',' ${byPrice}) FROM (${found} ${byPrice} LIMIT $2) AS side`
}
