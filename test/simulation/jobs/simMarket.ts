/**
 * Sellers and the wallet, as lasting things outside of all processes: a spend is known by its job,
 * node and attempt, settles once or never, and what became of it may be told late.
 */
import type { Purchase, Purchased, PurchaseId } from '#wallet/buyer.ts'
import type { Kernel } from '../kernel.ts'

/** A seller's behaviour, by chance and for good. */
export const moods = [
  ...(['honest', 'honest', 'honest', 'free', 'free', 'polled'] as const),
  ...(['dear', 'broken', 'busy', 'late', 'silent', 'vanishing'] as const),
] as const
export type Mood = (typeof moods)[number]

interface Spend {
  readonly attempt: number
  readonly units: bigint
  /** When the chain tells what became of it. */
  readonly knownMs: number
  readonly settles: boolean
  readonly answer: Purchased
}

/** The longest that an outcome stays unknown: less than the engine waits for. */
const UNKNOWN_MS = 90_000

export class SimMarket {
  readonly #kernel: Kernel
  readonly #wrong: (what: string) => void
  readonly #spends = new Map<string, Spend[]>()
  /** Times that a call without a price took effect, by node. */
  readonly #effects = new Map<string, number>()
  readonly #polls = new Map<string, number>()

  constructor(kernel: Kernel, wrong: (what: string) => void) {
    this.#kernel = kernel
    this.#wrong = wrong
  }

  /** The units that left for a job. */
  spentFor(jobId: string): bigint {
    let units = 0n
    for (const [key, spends] of this.#spends)
      if (key.startsWith(`${jobId} `)) for (const spend of spends) if (spend.settles) units += spend.units
    return units
  }

  buy(purchase: Purchase, mood: Mood): Purchased {
    const key = `${purchase.jobId} ${purchase.nodeId}`
    if (mood === 'free') return this.#give(key, purchase)
    const spends = this.#spends.get(key) ?? []
    const known = spends.find(({ attempt }) => attempt === purchase.attempt)
    if (known) return this.#tell(known)
    if (spends.some(({ knownMs, settles }) => settles || knownMs > this.#kernel.nowMs))
      this.#wrong('a node was bought anew while it may have been paid')
    const spend = this.#spendOn(purchase, mood, spends.length)
    this.#spends.set(key, [...spends, spend])
    return this.#tell(spend)
  }

  poll(jobId: string, nodeId: string): { status: number; done: boolean } {
    const key = `${jobId} ${nodeId}`
    const polls = (this.#polls.get(key) ?? 0) + 1
    this.#polls.set(key, polls)
    return { status: this.#kernel.chance(0.1) ? 503 : 200, done: polls > 2 }
  }

  #give(key: string, { method, unitsMax }: Purchase): Purchased {
    const effects = (this.#effects.get(key) ?? 0) + 1
    this.#effects.set(key, effects)
    if (method === 'POST' && effects > 1) this.#wrong('a call that changes something was made twice')
    if (unitsMax !== 0n) this.#wrong('a call was not bought for the price it was quoted for')
    return answer(null, 200)
  }

  #spendOn(purchase: Purchase, mood: Mood, before: number): Spend {
    const { nowMs } = this.#kernel
    const units = BigInt(this.#kernel.between(1, Number(purchase.unitsMax)))
    const paid = paidBy(purchase, units)
    const base = { attempt: purchase.attempt, units, knownMs: nowMs, settles: true }
    const lateMs = nowMs + this.#kernel.between(1_000, UNKNOWN_MS)
    switch (mood) {
      case 'dear':
        return {
          ...base,
          settles: false,
          answer: { kind: 'refused', code: 'price_exceeded', message: 'dear' },
        }
      case 'broken':
        return { ...base, answer: answer(paid, 500) }
      case 'busy': {
        const isAway = before < 2
        const away = { kind: 'refused', code: 'unreachable', message: 'away' } as const
        return { ...base, settles: !isAway, answer: isAway ? away : answer(paid, 200) }
      }
      case 'late':
        return { ...base, knownMs: lateMs, answer: answer(paid, 200) }
      case 'silent':
        return {
          ...{ ...base, knownMs: lateMs, settles: false },
          answer: { kind: 'refused', code: 'payment_rejected', message: 'the chain has nothing of it' },
        }
      case 'vanishing':
        return {
          ...base,
          knownMs: lateMs,
          answer: { kind: 'paid_not_delivered', paid, status: null, message: 'gone' },
        }
      default:
        return { ...base, answer: answer(paid, mood === 'polled' ? 202 : 200) }
    }
  }

  #tell({ knownMs, answer: told }: Spend): Purchased {
    return this.#kernel.nowMs < knownMs ? { kind: 'unknown', retryAfterMs: 2_000 } : told
  }
}

const paidBy = ({ jobId, nodeId, attempt }: PurchaseId, units: bigint) => ({
  ...({
    chainId: 1,
    currency: '0x00',
    amount: units,
    units,
    reference: `${jobId} ${nodeId} ${attempt}`,
  } as const),
})

function answer(paid: ReturnType<typeof paidBy> | null, status: number): Purchased {
  const body = Buffer.from(JSON.stringify(status === 202 ? { id: 'w', status: 'pending' } : { ok: status }))
  return { kind: 'answered', status, contentType: 'application/json', body, paid }
}
