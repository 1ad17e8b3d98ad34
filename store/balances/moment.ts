/**
 * Balances as of a block. Two states are stored, the newest and that of genesis; any other is one of them and the changes
 * that lie between. Changes of the newest blocks are stored as such; those of older ones are summed from the transfers.
 */
import type { BlockRange } from '#ingest/range.ts'
import { MillraceError } from '../../errors.ts'
import type { Queryable } from '../lane.ts'
import { relationOf } from '../postgres.ts'

/** A block, and how the balances after it follow from what is stored. */
export interface Moment {
  readonly block: number
  /** The stored state to begin with. */
  readonly base: 'balances' | 'genesis_balances'
  /** Changes to undo (`-`) or to add (`+`); null where the stored state is the one asked for. */
  readonly changes: {
    readonly sign: '-' | '+'
    readonly blocks: BlockRange
    /** Whether `balance_changes` holds all of these blocks. */
    readonly stored: boolean
  } | null
}

/** `tip` is the block of the newest state. @throws BlockNotReachedError for a later block */
export async function findMoment(
  client: Queryable,
  schema: string,
  block: number,
  tip: number,
): Promise<Moment> {
  if (block > tip) throw new BlockNotReachedError(block, tip)
  if (block === tip) return { block, base: 'balances', changes: null }
  const undone = { from: block + 1, to: tip }
  // Changes are deleted from below only: from the first one on they are all there.
  const found = await client.query<{ first: number | null }>(
    `SELECT min(block_num) AS first FROM ${relationOf(schema, 'balance_changes')}`,
  )
  const first = found.rows[0]?.first ?? null
  if (first !== null && first <= undone.from)
    return { block, base: 'balances', changes: { sign: '-', blocks: undone, stored: true } }
  if (block < tip / 2)
    return {
      block,
      base: 'genesis_balances',
      changes: { sign: '+', blocks: { from: 0, to: block }, stored: false },
    }
  return { block, base: 'balances', changes: { sign: '-', blocks: undone, stored: false } }
}

/** The block asked for is newer than the newest state. */
export class BlockNotReachedError extends MillraceError {
  override readonly name = 'BlockNotReachedError'
  readonly code = 'block_not_reached'
  readonly remedy = 'retry'

  constructor(block: number, tip: number) {
    super(`Block ${block} is not indexed yet; the newest is ${tip}.`)
  }
}
