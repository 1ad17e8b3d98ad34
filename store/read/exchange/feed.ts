/**
 * What aggregators read: fills of final blocks, and pairs as final blocks left them. How far that
 * goes is read in the snapshot of the rows, so that no answer is told to be whole that is not.
 */
import type pg from 'pg'
import { failure } from '#errors.ts'
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
import { Parameters, relationOf, toBytes } from '../../sql.ts'
import { type PairColumns, type PairRow, pairRow } from './exchangeChain.ts'
import { type FillColumns, type FillRow, fillRow, fillsOf } from './fills.ts'
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

/** Fills of one answer: some 60 MB of JSON. */
const FILLS_MAX = 100_000

/**
 * All fills of the blocks that `rangeTo` chooses, in the order of the chain.
 * @throws what `rangeTo` throws for a mark, FeedTooLargeError, FillUntoldError
 */
export function readFeedFills(
  chain: FollowedChain,
  rangeTo: (mark: number) => FeedRange,
  signal: AbortSignal,
): Promise<readonly FillRow[]> {
  const { schema } = chain.state
  return atMark(chain, signal, async (client, mark) => {
    const { from, to } = rangeTo(mark.number)
    const token = (column: string) =>
      `EXISTS (SELECT FROM ${relationOf(schema, 'tokens_current')} AS tokens WHERE tokens.token = fills.${column})`
    const found = await client.query<FillColumns & { is_told: boolean }>(
      `SELECT fills.*, ${token('base')} AND ${token('quote')} AS is_told FROM ${fillsOf(schema)} AS fills
       WHERE block_num BETWEEN $1 AND $2 ORDER BY block_num, log_idx LIMIT ${FILLS_MAX + 1}`,
      [from, to],
    )
    if (found.rows.length > FILLS_MAX) throw new FeedTooLargeError(FILLS_MAX)
    return found.rows.map((row) => {
      const fill = fillRow(row)
      if (!row.is_told) throw new FillUntoldError(fill)
      return fill
    })
  })
}

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

/**
 * @throws CoverageIncompleteError, ProjectionIncompleteError while no final block is in the order
 * book
 */
function atMark<Result>(
  { postgres, state }: FollowedChain,
  signal: AbortSignal,
  read: (client: pg.PoolClient, mark: FeedMark) => Promise<Result>,
): Promise<Result> {
  const { schema, startBlock } = state
  if (startBlock > 0) throw new CoverageIncompleteError(exchangeProjection.name, startBlock)
  const text = markSql(schema)
  return readSnapshot(
    postgres,
    signal,
    async (client) => {
      const { rows } = await client.query<MarkRow>(text)
      const [row] = rows
      if (!row) throw new ProjectionIncompleteError(exchangeProjection.name, -1, state.finalized)
      return read(client, { number: row.num, timestampSeconds: row.timestamp.getTime() / 1000 })
    },
    'prepared',
  )
}

/** What the fold has not undone yet is not counted, though its successors may be final. */
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

/** A fill whose tokens nothing tells: it is named, because a list without it would be believed. */
export class FillUntoldError extends failure('FillUntoldError', 'upstream_error', 'retry') {
  constructor({ txHash, txLogIndex, blockNumber, pair }: FillRow) {
    super(
      `Nothing tells the tokens ${pair.base} and ${pair.quote} of the fill at event ${txLogIndex} of transaction ${txHash}, block ${blockNumber}.`,
    )
  }
}
