/**
 * Balances as of a block. The newest state is stored, and those at checkpoints; any other is the
 * nearest of them and the changes that lie between. Changes of the newest blocks are stored as
 * such; those of older ones are summed from the transfers.
 */

import { failure } from '#errors.ts'
import type { BlockRange } from '#ingest/range.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { relationOf } from '../../sql.ts'
import { findCheckpoint } from './checkpoints.ts'

/** A block, and how the balances after it follow from what is stored. */
export interface Moment {
  readonly block: number
  /**
   * The stored state to begin with: the newest one, or that of a checkpoint, where -1 is genesis.
   */
  readonly base: 'newest' | { readonly checkpoint: number }
  /** Null where the stored state is the one asked for. */
  readonly changes: Changes | null
}

/** Changes of some blocks, to undo (`-`) or to add (`+`). */
export interface Changes {
  readonly sign: '-' | '+'
  readonly blocks: BlockRange
  /** Whether `balance_changes` holds all of these blocks. */
  readonly stored: boolean
}

/**
 * A ranked read of a checkpoint takes in every checkpoint of the token's holders: it costs as much
 * as undoing an eighth of the blocks before it (measured on a million transfers of 50,000 holders).
 */
const RANKED_BLOCKS_PER_UNDONE = 8

/**
 * `tip` is the block of the newest state. A `ranked` read, of all holders of a token, begins with
 * the newest state where it can: only that has an index by size. @throws BlockNotReachedError for a
 * later block
 */
export async function findMoment(
  client: Queryable,
  schema: string,
  { block, tip, ranked }: { readonly block: number; readonly tip: number; readonly ranked: boolean },
): Promise<Moment> {
  assertReached(block, tip)
  if (block === tip) return { block, base: 'newest', changes: null }
  const undone = await changesSince(client, schema, block, tip)
  const newest: Moment = { block, base: 'newest', changes: undone }
  if (ranked && undone.stored) return newest
  const checkpoint = await findCheckpoint(client, schema, block)
  const dearer = ranked ? block / RANKED_BLOCKS_PER_UNDONE : block - checkpoint
  if (tip - block < dearer) return newest
  const added = { from: checkpoint + 1, to: block }
  const changes = checkpoint < block ? ({ sign: '+', blocks: added, stored: false } as const) : null
  return { block, base: { checkpoint }, changes }
}

/** The changes of the newest state to undo. */
export async function changesSince(
  client: Queryable,
  schema: string,
  block: number,
  tip: number,
): Promise<Changes> {
  const found = await client.query<{ first: number | null }>(
    `SELECT min(block_num) AS first FROM ${relationOf(schema, 'balance_changes')}`,
  )
  // Changes are deleted from below only: from the first one on they are all there.
  const first = found.rows[0]?.first ?? null
  return { sign: '-', blocks: { from: block + 1, to: tip }, stored: first !== null && first <= block + 1 }
}

/** @throws BlockNotReachedError */
export function assertReached(block: number, tip: number): void {
  if (block > tip) throw new BlockNotReachedError(block, tip)
}

/** The block asked for is newer than the newest state. */
export class BlockNotReachedError extends failure('BlockNotReachedError', 'block_not_reached', 'retry') {
  constructor(block: number, tip: number) {
    super(`Block ${block} is not indexed yet; the newest is ${tip}.`)
  }
}
