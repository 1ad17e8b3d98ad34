/** Which old blocks the endpoints still answer, where behind one address may stand several nodes. */
import type { Clock } from '#runtime/runtime.ts'
import type { BlockRange } from '../../range.ts'
import { HistoryPrunedError } from '../client/errors.ts'
import { rpcQuantity } from '../client/parse.ts'
import type { Admission } from '../endpoints/Admission.ts'
import type { Endpoint } from '../endpoints/Endpoint.ts'
import type { Heads } from '../heads/Heads.ts'

export interface HeldBlocksOptions {
  readonly endpoints: readonly Endpoint[]
  readonly admission: Admission
  readonly heads: Heads
  readonly clock: Clock
}

/**
 * Looks at a block that is said to be missing, and the first pause between them; half a minute in
 * all. A node that says a block is pruned speaks for itself alone, as one that says null does.
 */
const LOOKS = 5
const PAUSE_MS = 500
/**
 * A block that was answered so lately is still held by a node that is found again: half a dozen rounds of
 * looks. Nodes that prune as the chain grows are told a few minutes later for it.
 */
const HELD_MS = 180_000
/**
 * Looks at each height while the oldest one that all nodes hold is searched, at the one that was
 * found, and searches: of two nodes, one look in two meets the wrong one.
 */
const SEARCH_LOOKS = 4
const CONFIRM_LOOKS = 12
const SEARCHES_MAX = 8

/** Blocks answered within one span of time. */
interface Window {
  readonly sinceMs: number
  readonly lowest: number
}

export class HeldBlocks {
  readonly #options: HeldBlocksOptions
  #window: Window = { sinceMs: Number.NEGATIVE_INFINITY, lowest: Number.POSITIVE_INFINITY }
  #windowBefore: Window = this.#window

  constructor(options: HeldBlocksOptions) {
    this.#options = options
  }

  /** Blocks from `from` to `to` came with their receipts. */
  answered({ from, to }: BlockRange): void {
    // Block 0 is often kept where all others are gone.
    if (to === 0) return
    const nowMs = this.#options.clock.monotonic()
    const number = Math.max(from, 1)
    if (nowMs - this.#window.sinceMs > HELD_MS) {
      this.#windowBefore = this.#window
      this.#window = { sinceMs: nowMs, lowest: number }
    } else if (number < this.#window.lowest) this.#window = { ...this.#window, lowest: number }
  }

  /**
   * Whether history is gone where `asked` begins, after as many looks as it takes to meet another
   * node. @returns null while any answer held it @throws RpcError when an endpoint could not say
   */
  async whatIsGone(asked: BlockRange, signal?: AbortSignal): Promise<HistoryPrunedError | null> {
    const missing = await this.#firstMissing(asked, signal)
    if (missing === null || (await this.#isHeldBelow(missing, signal))) return null
    if (!this.#heldLately(missing) && !(await this.#comesBack(missing, signal)))
      return new HistoryPrunedError(missing, await this.#earliestOfAll(missing, signal))
    this.#options.admission.note(
      'some of the nodes behind RPC_URL lack old blocks that others have: history is slow, for each block is asked for until a node has it',
    )
    return null
  }

  /**
   * The first block of a range that is not held: at its start or, as on nodes that prune everything but
   * block 0, right behind it.
   */
  async #firstMissing({ from, to }: BlockRange, signal?: AbortSignal): Promise<number | null> {
    if (!(await this.#holds(from, signal))) return from
    return to > from && !(await this.#holds(from + 1, signal)) ? from + 1 : null
  }

  /** Pruning removes from below: what was answered lately below is a sign for all above. */
  #heldLately(number: number): boolean {
    const endMs = this.#options.clock.monotonic() - 2 * HELD_MS
    return [this.#window, this.#windowBefore].some(
      ({ sinceMs, lowest }) => sinceMs >= endMs && lowest <= number,
    )
  }

  /**
   * Nodes drop blocks from below, though often not block 0: one that is missing right above another
   * is not gone.
   */
  async #isHeldBelow(number: number, signal?: AbortSignal): Promise<boolean> {
    return number > 1 && (await this.#holds(number - 1, signal))
  }

  async #comesBack(number: number, signal?: AbortSignal): Promise<boolean> {
    for (let look = 1; look <= LOOKS; look++) {
      await this.#options.clock.sleep(PAUSE_MS * 2 ** look, signal)
      if (await this.#holds(number, signal)) return true
    }
    return false
  }

  /**
   * Lowest height above `missing` that every look finds held, or null when the newest final block is
   * not. A height that was met by luck is found out when it is confirmed, and searched on from.
   */
  async #earliestOfAll(missing: number, signal?: AbortSignal): Promise<number | null> {
    const { finalized, number: head } = this.#options.heads
    const top = finalized > missing ? finalized : head
    const isHeld = (number: number, looks: number) => this.#alwaysHolds(number, looks, signal)
    if (!(await isHeld(top, SEARCH_LOOKS))) return null
    let absent = missing
    for (let search = 1; search <= SEARCHES_MAX; search++) {
      let present = top
      while (present > absent + 1) {
        const middle = Math.floor((absent + present) / 2)
        if (await isHeld(middle, SEARCH_LOOKS)) present = middle
        else absent = middle
      }
      if (await isHeld(present, CONFIRM_LOOKS)) return present
      absent = present
    }
    return null
  }

  async #alwaysHolds(number: number, looks: number, signal?: AbortSignal): Promise<boolean> {
    for (let look = 1; look <= looks; look++) if (!(await this.#holds(number, signal))) return false
    return true
  }

  /**
   * Whether any endpoint answers a block with its receipts now. @throws the last failure when one
   * could not say and none said yes.
   */
  async #holds(number: number, signal?: AbortSignal): Promise<boolean> {
    let unclear: unknown
    for (const endpoint of this.#options.endpoints) {
      try {
        if (!(await this.#holdsAt(endpoint, number, signal))) continue
        this.answered({ from: number, to: number })
        return true
      } catch (error) {
        signal?.throwIfAborted()
        unclear = error
      }
    }
    if (unclear) throw unclear
    return false
  }

  async #holdsAt(endpoint: Endpoint, number: number, signal?: AbortSignal): Promise<boolean> {
    const params = [rpcQuantity(number)]
    const calls = [{ method: 'eth_getBlockByNumber', params: [...params, false] }]
    if (endpoint.blockReceipts && !endpoint.lacking.has(number))
      calls.push({ method: 'eth_getBlockReceipts', params })
    const answers = await this.#options.admission.ask(endpoint, (client) =>
      client.callAll(calls, endpoint.batches, signal),
    )
    for (const answer of answers) {
      if (answer.ok && answer.result === null) return false
      if (answer.ok) continue
      if (answer.error.failure === 'pruned' || answer.error.failure === 'block_missing') return false
      throw answer.error
    }
    return true
  }
}
