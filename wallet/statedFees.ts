/** What a transfer on a Tempo chain is stated to cost before it is made, by the price that its nodes ask now. */
import { millionthsOf } from '#money/amounts.ts'
import { quantityIn } from '#money/node.ts'
import type { Clock } from '#runtime/runtime.ts'
import { askAny, type PayChain } from './payChain.ts'

/** The most that the chain may take for a transfer, in the smallest unit of quotes: five cents. */
export const FEE_UNITS_MAX = 50_000n

/** A transfer with a memo to an account that never had the token takes 315,000; to another one 70,000. */
const GAS = 350_000n
/** A price may rise between quote and call, in hundredths: as far as the library signs for. */
const RISE = 120n
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
    const late = this.#clock.sleep(WAIT_MS, over.signal).then(() => FEE_UNITS_MAX)
    const units = await Promise.race([told, late]).catch(() => FEE_UNITS_MAX)
    over.abort()
    late.catch(() => {})
    return units
  }
}

/** @param price of a unit of gas, in attodollars */
export function statedFeeAt(price: bigint): bigint {
  const units = millionthsOf((price * GAS * RISE) / 100n)
  return units < FEE_UNITS_MAX ? units : FEE_UNITS_MAX
}
