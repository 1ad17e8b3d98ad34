/**
 * Notices that the database has forgotten payments, however it was restored: the chain has what left an
 * account, and no row does. No money leaves a chain before it was asked.
 */
import { type Ask, numberIn } from './node.ts'
import { type Marked, readOutflows, type Transferred } from './outflows.ts'
import { finalBlockOf } from './settled.ts'

export type MarkedOutflow = Transferred & Marked

/** What rows know of an account on a chain. */
export interface OutflowLedger {
  /** Whatever left up to this block is known; null where nobody has looked yet. */
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

export class OutflowWatch {
  readonly #options: OutflowWatchOptions
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
   * One look. What leaves while this process lives is under its eyes: the chain is asked of the rest, and
   * while money stands of what was under way when the database was lost.
   */
  async look(): Promise<void> {
    const { ask, ledger } = this.#options
    const { number: final } = await finalBlockOf(ask)
    const mark = await ledger.readMark()
    const isNew = this.#seen === null || (mark !== null && mark < this.#seen)
    const stands = await ledger.stands()
    if (mark !== null && (isNew || stands)) await this.#judge(mark, stands)
    if (mark === null || final > mark) await ledger.keepMark(final)
    this.#seen = Math.max(mark ?? 0, final)
  }

  /** @param mark a block whose outflows are known */
  async #judge(mark: number, stands: boolean): Promise<void> {
    const { chainId, account, tokens, ask, ledger } = this.#options
    const newest = numberIn(await ask('eth_blockNumber', []))
    const left = await readOutflows(ask, { account, tokens: tokens(), from: mark + 1, to: newest })
    const unknown = await ledger.unknownAmong(left)
    const [first, ...others] = unknown
    if (!first) return
    await ledger.keepForgotten(unknown)
    if (stands) return
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    await ledger.stop(
      `transaction ${first.txHash}${more} took money out of ${account} on chain ${chainId}, and no row names it: the database was restored, or you moved it yourself while nothing ran. \`millrace books check\`, then \`millrace wallet resume\``,
    )
  }
}
