/**
 * Reads blocks again from the node and compares both stores with them, all the time: every block
 * once soon after it became final, and a share of history each day. It tells what it finds and
 * mends nothing: which side is wrong is for a person.
 */
import { type BlockRange, blockCount, intersection, type RangeSet } from '#ingest/range.ts'
import type { Clock } from '#runtime/runtime.ts'
import { type Logger, metrics } from '#telemetry.ts'
import { type AuditPosition, readAuditPosition, storeAuditPosition } from './auditPosition.ts'
import { type CoverageOf, findTwice, heldByBoth, keepComparing, type Looked } from './comparing.ts'
import { type Difference, describeDifference, type VerifyOptions, verifyRange } from './verify.ts'

/**
 * ING-06: a block is read again within a hundred blocks of its finality. Half of that leaves time
 * to do it.
 */
const RECENT_BLOCKS_MAX = 50
const HISTORY_BLOCKS_MAX = 100
/** Longer gaps, such as after a downtime, were filled as history and are audited as history. */
const RECENT_GAP_BLOCKS_MAX = 1_200
/**
 * Rest after a piece, as a multiple of the time it took: at most a fifth of the time is spent on
 * it.
 */
const REST_FACTOR = 4
/** How often what was found is looked at again, to notice that it was mended. */
const RECHECK_MS = 60_000
/** Differences kept; the first say enough to act on. */
const DIFFERENCES_MAX = 20
const DAY_MS = 86_400_000
/**
 * Pieces of history a day at most: short chains are read in single blocks, long ones in larger
 * pieces.
 */
const HISTORY_PIECES_PER_DAY = 864

export interface AuditStatus {
  readonly state: 'waiting' | 'agrees' | 'differs'
  /** Every block final since the audit began is audited up to here; null before the first. */
  readonly auditedTo: number | null
  /** The place of the round over all of history; null before it began. */
  readonly historyTo: number | null
  /** Rounds over all of history since the start of the program. */
  readonly historyRounds: number
  /** Blocks compared since the start of the program, history included. */
  readonly comparedBlocks: number
  readonly differences: readonly Difference[]
  /** The difference in words, or why nothing could be compared; null while all is well. */
  readonly problem: string | null
}

export const nothingAudited: AuditStatus = {
  state: 'waiting',
  auditedTo: null,
  historyTo: null,
  historyRounds: 0,
  comparedBlocks: 0,
  differences: [],
  problem: null,
}

export interface AuditOptions extends VerifyOptions {
  readonly chainId: number
  /** The blocks that each store holds whole, now. */
  readonly coverage: CoverageOf
  /** Newest final block; -1 before it is known. */
  readonly finalized: () => number
  /**
   * The work that must not be held up: `head` lets nothing through, `history` only what is newly
   * final.
   */
  readonly busy: () => 'head' | 'history' | null
  /** Share of history that is read again each day; 0 is none. */
  readonly historyPercentPerDay: number
  /** Compares what follows from blocks that were read again, beside their rows. */
  readonly compareState?: ((blocks: BlockRange, signal: AbortSignal) => Promise<void>) | undefined
  readonly clock: Clock
  readonly log: Logger
}

export const auditPasses = ['recent', 'history', 'recheck'] as const
type Pass = (typeof auditPasses)[number]

interface Piece {
  readonly pass: Pass
  readonly range: BlockRange
}

export class Audit {
  readonly #options: AuditOptions
  #position: AuditPosition | null = null
  #comparedBlocks = 0
  #rounds = 0
  #historyDueMs = Number.NEGATIVE_INFINITY
  #recheckDueMs = Number.NEGATIVE_INFINITY
  #failure: string | null = null
  #isReadAgain = false

  constructor(options: AuditOptions) {
    this.#options = options
  }

  get status(): AuditStatus {
    const { recentTo = -1, historyTo = -1, differences = [] } = this.#position ?? {}
    const [found] = differences
    const agrees = recentTo >= 0 || historyTo >= 0
    return {
      state: found ? 'differs' : agrees ? 'agrees' : 'waiting',
      auditedTo: known(recentTo),
      historyTo: known(historyTo),
      historyRounds: this.#rounds,
      comparedBlocks: this.#comparedBlocks,
      differences,
      problem: found ? describeDifference(found) : this.#failure,
    }
  }

  /** Blocks that were read are read once more: they may have been taken by rules that do not hold. */
  readAgain(): void {
    this.#isReadAgain = true
  }

  /** Audits until aborted. A node or a store that does not answer is tried again later. */
  run(signal: AbortSignal): Promise<void> {
    const failed = (problem: string | null) => {
      this.#failure = problem
    }
    const step = (within: AbortSignal) => this.step(within)
    return keepComparing({ step, failed, restFactor: REST_FACTOR, clock: this.#options.clock }, signal)
  }

  /** Audits the piece that is due, if one is. @throws what the node or a store throws */
  async step(signal: AbortSignal): Promise<Looked> {
    if (this.#options.finalized() < 0) return 'nothing'
    const position = await this.#positionNow()
    const piece = this.#next(position)
    if (!piece) return 'nothing'
    const compare = async () => (await verifyRange(this.#options, piece.range)).differences
    const found = await findTwice(this.#options, piece.range, signal, compare)
    if (found === null) return 'nothing'
    if (piece.pass !== 'recheck') await this.#options.compareState?.(piece.range, signal)
    await this.#note(position, piece, found)
    return piece.pass === 'recent' && blockCount(piece.range) === RECENT_BLOCKS_MAX ? 'some' : 'all'
  }

  /**
   * The place of the last process; the first one begins with what is final now, and leaves the rest to
   * history.
   */
  async #positionNow(): Promise<AuditPosition> {
    const { chainId, postgres, schema, finalized } = this.#options
    const top = finalized()
    const kept = this.#position ?? (await readAuditPosition(postgres.pool, schema))
    const position = this.#fromStart(kept ?? { recentTo: top, historyTo: -1, differences: [] })
    metrics.auditDifferences.set({ chain: `${chainId}` }, position.differences.length)
    // An operator's rewind may have lowered finality.
    const recentTo = Math.max(Math.min(position.recentTo, top), top - RECENT_GAP_BLOCKS_MAX)
    this.#position = { ...position, recentTo }
    return this.#position
  }

  /** The place from which it reads again: the start of the last read, and of history. */
  #fromStart(position: AuditPosition): AuditPosition {
    if (!this.#isReadAgain) return position
    this.#isReadAgain = false
    const { recentTo } = position
    const read = heldByBoth(this.#options.coverage).find(({ from, to }) => from <= recentTo && recentTo <= to)
    return { ...position, recentTo: read ? read.from - 1 : recentTo, historyTo: -1 }
  }

  #next(position: AuditPosition): Piece | null {
    const { coverage, busy, clock } = this.#options
    const working = busy()
    if (working === 'head') return null
    const held = heldByBoth(coverage)
    const recent = this.#recent(position, held)
    if (recent) return { pass: 'recent', range: recent }
    const [found] = position.differences
    if (found && clock.monotonic() >= this.#recheckDueMs)
      return { pass: 'recheck', range: { from: found.block, to: found.block } }
    const history = working === null ? this.#history(position, held) : null
    return history && { pass: 'history', range: history }
  }

  /** The next blocks that became final, in order, once both stores hold them. */
  #recent({ recentTo }: AuditPosition, held: RangeSet): BlockRange | null {
    const to = Math.min(this.#options.finalized(), recentTo + RECENT_BLOCKS_MAX)
    const [range] = intersection([{ from: recentTo + 1, to }], held)
    return range?.from === recentTo + 1 ? range : null
  }

  /** The next piece of the round over all that is held, when it is time for it. */
  #history({ historyTo, recentTo }: AuditPosition, held: RangeSet): BlockRange | null {
    const { historyPercentPerDay, clock } = this.#options
    const audited = intersection(held, [{ from: 0, to: recentTo }])
    const blocks = audited.reduce((sum, range) => sum + blockCount(range), 0)
    const perDay = (blocks * historyPercentPerDay) / 100
    if (perDay === 0 || clock.monotonic() < this.#historyDueMs) return null
    const count = Math.min(HISTORY_BLOCKS_MAX, Math.ceil(perDay / HISTORY_PIECES_PER_DAY))
    const intervalMs = (count / perDay) * DAY_MS
    this.#historyDueMs = Math.max(this.#historyDueMs, clock.monotonic() - intervalMs) + intervalMs
    const start = audited.find(({ to }) => to > historyTo) ?? audited[0]
    if (!start) return null
    if (start.to <= historyTo) this.#rounds += 1
    const from = start.to <= historyTo ? start.from : Math.max(start.from, historyTo + 1)
    return { from, to: Math.min(start.to, from + count - 1) }
  }

  async #note(before: AuditPosition, { pass, range }: Piece, found: readonly Difference[]): Promise<void> {
    const { chainId, postgres, schema, clock, log } = this.#options
    const elsewhere = before.differences.filter(({ block }) => block < range.from || block > range.to)
    const differences = [...elsewhere, ...found].slice(0, DIFFERENCES_MAX)
    const position = {
      recentTo: pass === 'recent' ? range.to : before.recentTo,
      historyTo: pass === 'history' ? range.to : before.historyTo,
      differences,
    }
    await storeAuditPosition(postgres.pool, schema, position)
    this.#position = position
    this.#comparedBlocks += blockCount(range)
    if (pass === 'recheck') this.#recheckDueMs = clock.monotonic() + RECHECK_MS
    metrics.auditedBlocks.inc({ chain: `${chainId}`, pass }, blockCount(range))
    metrics.auditDifferences.set({ chain: `${chainId}` }, differences.length)
    const told = new Set(before.differences.map(describeDifference))
    for (const difference of differences)
      if (!told.has(describeDifference(difference)))
        log.error(
          { chainId, ...difference },
          'the audit found what is not on the chain: run `millrace verify`',
        )
    if (before.differences.length > 0 && differences.length === 0)
      log.info({ chainId }, 'the audit finds the stores whole again')
  }
}

const known = (height: number): number | null => (height < 0 ? null : height)
