/**
 * The data that aggregators read: fills of final blocks, and pairs as final blocks left them. How far that
 * goes is read in the snapshot of the rows, so that no answer is told to be whole that is not.
 */
import type pg from 'pg'
import { failure } from '#errors.ts'
import { type Hash, hash } from '#primitives.ts'
import { readSnapshot } from '../../cancel.ts'
import { exchangeProjection } from '../../follow/exchange/bookFollower.ts'
import { pairsTable } from '../../follow/exchange/bookStates.ts'
import { revertedFromSql } from '../../follow/follower.ts'
import {
  CoverageIncompleteError,
  type FollowedChain,
  ProjectionIncompleteError,
} from '../../follow/readFollowed.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { preparedName } from '../../postgres.ts'
import { Parameters, relationOf, toBytes, toHex } from '../../sql.ts'
import { addressIn, type PairColumns, type PairRow, pairRow } from './exchangeChain.ts'
import { type FillColumns, type FillRow, fillsOf } from './fills.ts'
import { compileStatesAt, type StatesQuery } from './statesAt.ts'

/** The newest block that is final and in the order book. */
export interface FeedMark {
  readonly number: number
  readonly timestampSeconds: number
}

export function readFeedMark(chain: FollowedChain, signal: AbortSignal): Promise<FeedMark> {
  return atMark(chain, signal, async (_client, mark) => mark)
}

export interface FeedRange {
  readonly from: number
  readonly to: number
}

/**
 * A fill as aggregators read it: what its taker gave and got. A range has thousands, so nothing else
 * is read of them.
 */
export interface FeedFill
  extends Omit<
    FillRow,
    'logIndex' | 'swapLogIndex' | 'orderId' | 'maker' | 'pair' | 'isPartial' | 'quoteAmount'
  > {
  readonly pairKey: Hash
}

/** Fills of one answer: some 60 MB of JSON. */
const FILLS_MAX = 100_000

/**
 * All fills of the blocks that `rangeTo` chooses, in the order of the chain. A range that is known
 * before is read together with the mark, in the same snapshot.
 * @throws what `rangeTo` throws for a mark, FeedTooLargeError, FillUntoldError
 */
export function readFeedFills(
  chain: FollowedChain,
  known: FeedRange | null,
  rangeTo: (mark: number) => FeedRange,
  signal: AbortSignal,
): Promise<readonly FeedFill[]> {
  const statement = prepared(feedFillsSql(chain.state.schema))
  return readPending(chain, signal, async (client, pending) => {
    const read = ({ from, to }: FeedRange) => client.query<FeedColumns>({ ...statement, values: [from, to] })
    const early = known && read(known)
    // An error of the range, or a lost connection, is told by the mark.
    early?.catch(() => {})
    const range = rangeTo((await pending).number)
    const { rows } = await (early ?? read(range))
    if (rows.length > FILLS_MAX) throw new FeedTooLargeError(FILLS_MAX)
    return rows.map(feedFill)
  })
}

function feedFillsSql(schema: string): string {
  const isToken = (column: string) =>
    `EXISTS (SELECT FROM ${relationOf(schema, 'tokens_current')} AS tokens WHERE tokens.token = fills.${column})`
  return `SELECT block_num, extract(epoch FROM block_timestamp)::bigint AS seconds, tx_idx, tx_log_idx, tx_hash, taker, pair,
      is_bid, tick, amount, coalesce(taker_quote_amount, quote_amount) AS taker_quote_amount, reserve0, reserve1,
      CASE WHEN ${isToken('base')} AND ${isToken('quote')} THEN NULL ELSE base || quote END AS untold
    FROM ${fillsOf(schema)} AS fills WHERE block_num BETWEEN $1 AND $2
    ORDER BY block_num, log_idx LIMIT ${FILLS_MAX + 1}`
}

interface FeedColumns
  extends Pick<
    FillColumns,
    | 'block_num'
    | 'tx_idx'
    | 'tx_log_idx'
    | 'tx_hash'
    | 'taker'
    | 'pair'
    | 'is_bid'
    | 'tick'
    | 'amount'
    | 'reserve0'
    | 'reserve1'
  > {
  readonly taker_quote_amount: string
  readonly seconds: number
  /** Both tokens of a pair of which nothing tells one; else null. */
  readonly untold: Buffer | null
}

/** @throws FillUntoldError */
function feedFill(row: FeedColumns): FeedFill {
  const fill = {
    blockNumber: row.block_num,
    timestampSeconds: row.seconds,
    txHash: hash(toHex(row.tx_hash)),
    txIndex: row.tx_idx,
    txLogIndex: row.tx_log_idx,
    taker: addressIn(row.taker),
    pairKey: hash(toHex(row.pair)),
    isBid: row.is_bid,
    tick: row.tick,
    amount: BigInt(row.amount),
    takerQuoteAmount: BigInt(row.taker_quote_amount),
    reserve0: BigInt(row.reserve0),
    reserve1: BigInt(row.reserve1),
  }
  if (row.untold) throw new FillUntoldError(fill, row.untold)
  return fill
}

const prepared = (text: string) => ({ name: preparedName(text), text })

/** Pairs newest first. */
export function listFeedPairs(
  chain: FollowedChain,
  limit: number,
  signal: AbortSignal,
): Promise<readonly PairRow[]> {
  return atMark(chain, signal, (client, mark) =>
    readPairs(client, chain.state.schema, mark, limit, () => 'true'),
  )
}

export async function findFeedPair(
  chain: FollowedChain,
  key: string,
  signal: AbortSignal,
): Promise<PairRow | null> {
  const of = (parameters: Parameters) => `pair = ${parameters.add(toBytes(key))}`
  const [found = null] = await atMark(chain, signal, (client, mark) =>
    readPairs(client, chain.state.schema, mark, 1, of),
  )
  return found
}

async function readPairs(
  client: Queryable,
  schema: string,
  mark: FeedMark,
  limit: number,
  condition: (parameters: Parameters) => string,
): Promise<readonly PairRow[]> {
  const parameters = new Parameters()
  const query: StatesQuery = {
    ...{ table: pairsTable.name, block: mark.number, branches: [condition(parameters)] },
    ...{ orderBy: ['created_block', 'created_log_idx', 'pair'], order: 'desc', limit, offset: 0 },
  }
  const text = compileStatesAt(schema, query, parameters)
  const found = await client.query<PairColumns>(text, parameters.values)
  return found.rows.map(pairRow)
}

interface MarkRow {
  readonly num: number
  readonly timestamp: Date
}

/** @throws like readPending */
const atMark = <Result>(
  chain: FollowedChain,
  signal: AbortSignal,
  read: (client: pg.PoolClient, mark: FeedMark) => Promise<Result>,
): Promise<Result> => readPending(chain, signal, async (client, pending) => read(client, await pending))

/**
 * `read` gets the mark while it is still being read: what does not wait for it goes to the server
 * with it. @throws CoverageIncompleteError, ProjectionIncompleteError while no final block is in
 * the order book
 */
function readPending<Result>(
  { postgres, state }: FollowedChain,
  signal: AbortSignal,
  read: (client: pg.PoolClient, pending: Promise<FeedMark>) => Promise<Result>,
): Promise<Result> {
  const { schema, startBlock } = state
  if (startBlock > 0) throw new CoverageIncompleteError(exchangeProjection.name, startBlock)
  const statement = prepared(markSql(schema))
  const readMark = async (client: pg.PoolClient): Promise<FeedMark> => {
    const { rows } = await client.query<MarkRow>(statement)
    const [row] = rows
    if (!row) throw new ProjectionIncompleteError(exchangeProjection.name, -1, state.finalized)
    return { number: row.num, timestampSeconds: row.timestamp.getTime() / 1000 }
  }
  return readSnapshot(postgres, signal, (client) => read(client, readMark(client)), 'prepared')
}

/** Blocks that the fold has not undone yet are not counted, though their successors may be final. */
function markSql(schema: string): string {
  const { name, version } = exchangeProjection
  const table = (of: string) => relationOf(schema, of)
  return `SELECT num, timestamp FROM ${table('blocks')} WHERE num = (
    SELECT least(lanes.finalized, upper(held.blocks) - 1, (${revertedFromSql(schema, 'followers.seq')}) - 1)
    FROM ${table('followers')} AS followers
    JOIN ${table('coverage')} AS held ON held.store = 'postgres' AND held.projection = followers.name
      AND held.version = followers.version
    CROSS JOIN ${table('lanes')} AS lanes
    WHERE followers.name = '${name}' AND followers.version = ${version} AND lanes.name = 'head')`
}

/** More fills than one answer holds. */
export class FeedTooLargeError extends failure('FeedTooLargeError', 'query_invalid', 'stop') {
  constructor(max: number) {
    super(`These blocks hold more than ${max} fills; ask for fewer blocks.`)
  }
}

const ADDRESS_BYTES = 20

/** A fill whose tokens nothing tells: it is named, because a list without it would be believed. */
export class FillUntoldError extends failure('FillUntoldError', 'upstream_error', 'retry') {
  constructor({ txHash, txLogIndex, blockNumber }: FeedFill, tokens: Buffer) {
    const [base, quote] = [tokens.subarray(0, ADDRESS_BYTES), tokens.subarray(ADDRESS_BYTES)].map(toHex)
    super(
      `Nothing tells the tokens ${base} and ${quote} of the fill at event ${txLogIndex} of transaction ${txHash}, block ${blockNumber}.`,
    )
  }
}
