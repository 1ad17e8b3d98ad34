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
  const rows = await readFollowedRows<DepthColumns>(chain, [exchangeProjection], signal, {
    text: depthSql(chain.state.schema, isPast),
    values: [toBytes(base), levels, ...(isPast ? [atBlock] : [])],
    ...{ key: 'nth', order: 'is_bid, nth' },
  })
  const [first] = rows
  if (isPast) assertReached(atBlock, first?.last_tip ?? -1)
  if (!first?.pair) return null
  const side = (isBid: boolean) =>
    rows.flatMap(({ is_bid, tick, size }) => (is_bid === isBid ? [{ tick, size: BigInt(size) }] : []))
  return { pair: pairTokens({ ...first, pair: first.pair }), bids: side(true), asks: side(false) }
}

interface DepthColumns extends Readonly<Record<string, unknown>> {
  /** Null where the base token has no pair. */
  readonly pair: Buffer | null
  readonly base: Buffer
  readonly quote: Buffer
  /** Null in a row without a level. */
  readonly is_bid: boolean | null
  readonly tick: number
  readonly size: string
}

/** At least one row, for what it is asked at. $1: the base token, $2: levels, $3: a past block. */
function depthSql(schema: string, isPast: boolean): string {
  const block = isPast ? '$3::bigint' : 'place.last_tip'
  const quote = quoteTokenSql(schema, { token: '$1::bytea', block: `(${block} + 1)`, log: '0' })
  const sides = [true, false].map((isBid) => sideSql(schema, isBid, isPast))
  return `SELECT pair.pair, pair.base, pair.quote, level.is_bid, level.tick, level.size, coalesce(level.nth, 0) AS nth
    FROM (SELECT ${quote} AS quote) AS asked
    LEFT JOIN ${relationOf(schema, `${pairsTable.name}_current`)} AS pair
      ON pair.base = $1 AND pair.quote = asked.quote AND pair.created_block <= ${block}
    LEFT JOIN LATERAL (${sides.join(' UNION ALL ')}) AS level ON true`
}

/** Levels of one side, numbered from the best price. */
function sideSql(schema: string, isBid: boolean, isPast: boolean): string {
  const current = relationOf(schema, `${levelsTable.name}_current`)
  const ordered = `ORDER BY tick ${isBid ? 'DESC' : 'ASC'} LIMIT $2`
  const ofSide = `level.pair = pair.pair AND ${isBid ? '' : 'NOT '}level.is_bid`
  const found = isPast
    ? `SELECT tick, past.size FROM ${current} AS level CROSS JOIN LATERAL (
         SELECT size FROM ${relationOf(schema, `${levelsTable.name}_history`)} AS history
         WHERE history.level = level.level AND history.block_num <= $3
         ORDER BY history.block_num DESC, history.log_idx DESC LIMIT 1) AS past
       WHERE ${ofSide} AND past.size > 0 ${ordered}`
    : `SELECT tick, size FROM ${current} AS level WHERE ${ofSide} AND size > 0 ${ordered}`
  return `SELECT ${isBid} AS is_bid, tick, size, row_number() OVER () AS nth FROM (${found}) AS side`
}
