/**
 * Live queries on Postgres follow the commit log: a result for every block of an append, a
 * retraction for a revert.
 */
import { BoundedMap } from '#runtime/BoundedMap.ts'
import {
  type Commit,
  holdsCommitsAfter,
  isTakenBack,
  readCommits,
  readLowestRevert,
} from '#store/ledger/commits.ts'
import type { ChainReads } from '../services.ts'
import { type Feed, frameOfBlock, type Lost, type RunBlock, type Step } from './feed.ts'
import { laggedFrame, retractFrame } from './frames.ts'
import { type CommitPosition, formatCommitPosition, parseCommitPosition } from './position.ts'

/**
 * All queries of a chain read the same newest commits; a few hundred of them are a few hundred
 * hashes.
 */
const COMMITS_CACHED = 256

export class PostgresFeed implements Feed<CommitPosition> {
  readonly #chain: ChainReads
  readonly #commits = new BoundedMap<number, Commit>({ max: COMMITS_CACHED })

  constructor(chain: ChainReads) {
    this.#chain = chain
  }

  present(): CommitPosition {
    const { seq, tip } = this.#chain.state
    return { seq, block: tip, complete: false }
  }

  /** A commit is visible when the chain's state tells of it. */
  reached(): CommitPosition {
    return this.present()
  }

  blockOf = (position: CommitPosition): number => position.block
  format = (position: CommitPosition) => formatCommitPosition(this.#chain.state.chainId, position)
  parse = (id: string) => parseCommitPosition(this.#chain.state.chainId, id)

  /**
   * Blocks that were taken back since count too: their retraction is not sent to a client that
   * starts over. A place above all there is tells nothing of what was seen.
   */
  async unsureFrom(at: CommitPosition): Promise<number> {
    const { postgres, state } = this.#chain
    const isKnown = at.seq <= state.seq && (await holdsCommitsAfter(postgres.pool, state.schema, at.seq))
    if (!isKnown) return 0
    const lowest = await readLowestRevert(postgres.pool, state.schema, at.seq)
    const from = Math.min(at.block + 1, lowest ?? at.block + 1)
    return from > state.tip + 1 ? 0 : from
  }

  async next(at: CommitPosition, run: RunBlock): Promise<Step<CommitPosition> | Lost | null> {
    if (!at.complete) {
      const begun = await this.#commit(at.seq)
      // A client's id may name any block: one below the commit, or above all there is, is no place in it.
      if (begun && at.block > Math.max(begun.range.to, this.#chain.state.tip)) return 'foreign'
      if (begun?.kind === 'append' && at.block < begun.range.to) {
        if (at.block < begun.range.from - 1) return 'foreign'
        return this.#block(begun, at.block + 1, run)
      }
    }
    const { state } = this.#chain
    // A place beyond the log is of another process that saw more than we did, or of another
    // database.
    if (at.seq > state.seq) await state.refresh()
    if (at.seq >= state.seq) return at.seq > state.seq ? 'foreign' : null
    const commit = await this.#commit(at.seq + 1)
    if (!commit) return 'lost'
    if (commit.kind === 'revert') return this.#retraction(commit)
    const isGap = at.block >= 0 && at.block + 1 < commit.range.from
    return isGap ? leftOut(at, commit) : this.#block(commit, commit.range.from, run)
  }

  /**
   * The result of one block. A block that was taken back meanwhile is passed over: nothing was said
   * of it, and its retraction, which comes next in the log, does no harm. Asked after the query, so
   * that the rows were the block's.
   */
  async #block(commit: Commit, number: number, run: RunBlock): Promise<Step<CommitPosition>> {
    const { postgres, state } = this.#chain
    const position = { seq: commit.seq, block: number, complete: number === commit.range.to }
    const block = commit.blocks.find(({ num }) => num === number)
    if (!block) throw new Error(`commit ${commit.seq} has no block ${number}`)
    const bytes = await frameOfBlock(this.format(position), block, run)
    const gone = await isTakenBack(postgres.pool, state.schema, commit.seq, number)
    return gone ? { position: endOf(commit), bytes: null } : { position, bytes }
  }

  #retraction(commit: Commit): Step<CommitPosition> {
    // The stream stands below what was taken back.
    const position = { seq: commit.seq, block: commit.range.from - 1, complete: true }
    return { position, bytes: retractFrame(this.format(position), commit.blocks) }
  }

  /** A commit by its number; null when the log does not hold it. */
  async #commit(seq: number): Promise<Commit | null> {
    const cached = this.#commits.get(seq)
    if (cached) return cached
    const { postgres, state } = this.#chain
    for (const commit of await readCommits(postgres.pool, state.schema, seq - 1))
      this.#commits.set(commit.seq, commit)
    return this.#commits.get(seq) ?? null
  }
}

const endOf = (commit: Commit): CommitPosition => ({
  seq: commit.seq,
  block: commit.range.to,
  complete: true,
})

/**
 * After a long downtime the chain goes on at the head; history fills what lies between, which no
 * stream tells.
 */
function leftOut({ seq, block }: CommitPosition, { range }: Commit): Step<CommitPosition> {
  const skipped = { from: block + 1, to: range.from - 1 }
  const bytes = laggedFrame(skipped, 'these blocks are loaded as history')
  return { position: { seq, block: skipped.to, complete: true }, bytes }
}
