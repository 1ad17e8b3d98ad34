/** Stated costs of payments on Tempo's chains, by the price of gas that their nodes ask now. */
import { quantityIn } from '#money/node.ts'
import { FEE_MAX, statedFeeAt } from '#money/statedFee.ts'
import type { Clock } from '#runtime/runtime.ts'
import { askAny, type PayChain } from './payChain.ts'

const HELD_MS = 5_000
/** A quote waits no longer for a node. */
const WAIT_MS = 2_000

interface Held {
  readonly untilMs: number
  readonly units: Promise<bigint>
}

export class StatedFees {
  readonly #clock: Clock
  readonly #held = new Map<number, Held>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** In the smallest unit of quotes; the most there is while no node tells a price. */
  of(chain: PayChain): Promise<bigint> {
    const nowMs = this.#clock.now()
    const held = this.#held.get(chain.chainId)
    if (held && held.untilMs > nowMs) return held.units
    const units = this.#ask(chain)
    this.#held.set(chain.chainId, { untilMs: nowMs + HELD_MS, units })
    return units
  }

  async #ask(chain: PayChain): Promise<bigint> {
    const over = new AbortController()
    const told = askAny(chain)('eth_gasPrice', []).then((price) => statedFeeAt(quantityIn(price)))
    const late = this.#clock.sleep(WAIT_MS, over.signal).then(() => FEE_MAX)
    const units = await Promise.race([told, late]).catch(() => FEE_MAX)
    over.abort()
    late.catch(() => {})
    return units
  }
}
