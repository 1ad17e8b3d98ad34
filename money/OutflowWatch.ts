/**
 * Notices that the database has forgotten payments, however it was restored: the chain has what left an
 * account, and no row does. No money leaves a chain before it was asked.
 */
import type { Ask } from './node.ts'
import { type Marked, readOutflows, type Transferred } from './outflows.ts'
import { type BlockTime, finalBlockOf, isPast, newestBlockOf } from './settled.ts'

export type MarkedOutflow = Transferred & Marked

/** The rows' record of an account on a chain. */
export interface OutflowLedger {
  /** Every outflow up to this block is known; null before the first look. */
  readMark(): Promise<number | null>
  keepMark(block: number): Promise<void>
  /** Those that no row explains. */
  unknownAmong(outflows: readonly MarkedOutflow[]): Promise<readonly MarkedOutflow[]>
  /** Keeps them, so that what they paid is not paid again. */
  keepForgotten(outflows: readonly MarkedOutflow[]): Promise<void>
  /** No money leaves since the database was restored. */
  stands(): Promise<boolean>
  /** No money leaves until an operator has looked. */
  stop(problem: string): Promise<void>
}

export interface OutflowWatchOptions {
  readonly chainId: number
  readonly account: `0x${string}`
  /** Lowercase addresses of the tokens that money leaves in. */
  readonly tokens: () => readonly string[]
  readonly ask: Ask
  readonly ledger: OutflowLedger
}

/** The longest time that a signed transaction stays valid. */
const VALID_SECONDS = 660

/** Transactions that were signed before the database was lost, and may be mined yet. */
interface UnderWay {
  /** Up to here all was looked at. */
  readonly block: number
  /** Unix seconds; it cannot be mined from then on. */
  readonly untilSeconds: number
}

export class OutflowWatch {
  readonly #options: OutflowWatchOptions
  /** Null once all of it would be final. */
  #underWay: UnderWay | null = null
  /** The mark that this process has seen last: an older one is of a database that was restored beneath it. */
  #seen: number | null = null

  constructor(options: OutflowWatchOptions) {
    this.#options = options
  }

  get chainId(): number {
    return this.#options.chainId
  }

  /** False before the first look has ended: money waits. */
  get hasLooked(): boolean {
    return this.#seen !== null
  }

  /**
   * One look. What leaves while this process lives is under its eyes: the chain is asked of the rest, and,
   * behind the first look and while money stands, of what was under way when the database was lost.
   */
  async look(): Promise<void> {
    const { ask, ledger } = this.#options
    const final = await finalBlockOf(ask)
    const mark = await ledger.readMark()
    const isNew = this.#seen === null || (mark !== null && mark < this.#seen)
    const stands = await ledger.stands()
    const underWay = this.#underWay
    if (mark !== null && (isNew || stands)) {
      const { number: block, seconds } = await this.#judge(mark, stands)
      const untilSeconds = isNew ? seconds + VALID_SECONDS : (underWay?.untilSeconds ?? 0)
      this.#underWay = { block, untilSeconds }
    } else if (underWay) {
      const { number: block } = await this.#judge(underWay.block, stands, true)
      this.#underWay = isPast(final, underWay.untilSeconds) ? null : { ...underWay, block }
    }
    if (mark === null || final.number > mark) await ledger.keepMark(final.number)
    this.#seen = Math.max(mark ?? 0, final.number)
  }

  /**
   * @param known a block whose outflows are known
   * @param isMarked of those alone that say what they are for: others are the operator's
   * @returns the last block that was looked at
   */
  async #judge(known: number, stands: boolean, isMarked = false): Promise<BlockTime> {
    const { account, tokens, ask, ledger } = this.#options
    const newest = await newestBlockOf(ask)
    const left = await readOutflows(ask, { account, tokens: tokens(), from: known + 1, to: newest.number })
    const unknown = await ledger.unknownAmong(isMarked ? left.filter(({ memo }) => memo !== null) : left)
    if (unknown.length > 0) await ledger.keepForgotten(unknown)
    if (!stands) await this.#stopFor(unknown)
    return newest
  }

  async #stopFor([first, ...others]: readonly MarkedOutflow[]): Promise<void> {
    const { chainId, account, ledger } = this.#options
    if (!first) return
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    await ledger.stop(
      `transaction ${first.txHash}${more} took money out of ${account} on chain ${chainId}, and no row names it: the database was restored, or you moved it yourself while nothing ran. \`millrace books check\`, then \`millrace wallet resume\``,
    )
  }
}
