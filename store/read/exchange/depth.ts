/** Reads of depth: what rests at each price, best prices first, now or after any block. */
import type { Address } from '#primitives.ts'
import { assertReached } from '../../follow/balances/moment.ts'
import { levelsTable } from '../../follow/exchange/bookStates.ts'
import { relationOf, toBytes } from '../../sql.ts'
import {
  type BookMoment,
  type ExchangeChain,
  findPairOf,
  type PairTokens,
  readBook,
} from './exchangeChain.ts'

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
  return readBook(chain, signal, async (moment) => {
    const { tip } = moment
    if (atBlock !== undefined) assertReached(atBlock, tip)
    const pair = await findPairOf(moment, base, atBlock ?? tip)
    if (!pair) return null
    const read = (isBid: boolean) => readSide(moment, pair.key, isBid, levels, atBlock)
    const [bids, asks] = await Promise.all([read(true), read(false)])
    return { pair, bids, asks }
  })
}

async function readSide(
  { client, schema }: BookMoment,
  pair: string,
  isBid: boolean,
  levels: number,
  atBlock: number | undefined,
): Promise<readonly LevelRow[]> {
  const current = relationOf(schema, `${levelsTable.name}_current`)
  const ordered = `ORDER BY tick ${isBid ? 'DESC' : 'ASC'} LIMIT $2`
  const text =
    atBlock === undefined
      ? `SELECT tick, size FROM ${current} WHERE pair = $1 AND is_bid = ${isBid} AND size > 0 ${ordered}`
      : `SELECT tick, past.size FROM ${current} AS level CROSS JOIN LATERAL (
           SELECT size FROM ${relationOf(schema, `${levelsTable.name}_history`)} AS history
           WHERE history.level = level.level AND history.block_num <= $3
           ORDER BY history.block_num DESC, history.log_idx DESC LIMIT 1) AS past
         WHERE pair = $1 AND is_bid = ${isBid} AND past.size > 0 ${ordered}`
  const values = [toBytes(pair), levels, ...(atBlock === undefined ? [] : [atBlock])]
  const found = await client.query<{ tick: number; size: string }>(text, values)
  return found.rows.map(({ tick, size }) => ({ tick, size: BigInt(size) }))
}
