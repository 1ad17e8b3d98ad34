/**
 * A way to pay whose transfers a facilitator brings to the chain. What it says may be a lie: the method
 * believes nodes alone, as `payments/methods/charge/TempoChargeMethod.ts` does.
 */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { amountOf } from '#money/amounts.ts'
import type { Ask } from '#money/node.ts'
import { lookForTx } from '#money/settled.ts'
import {
  type Challenge,
  type PaymentMethod,
  type PaymentOutcome,
  PaymentRefusedError,
  type RequestPrice,
  type Unsent,
} from '#payments/methods/PaymentMethod.ts'
import type { CheckedPayment } from '#rows/payments/payments.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Kernel, SimProcess } from '../kernel.ts'
import { CHAIN_ID, PAYEE, type SimChain, type SimTransaction, TOKEN } from './simChain.ts'
import type { WholeBugs } from './wholeBugs.ts'

/** A facilitator's dealings with a payment, and its word on it. */
export const facilitatorMoods = [
  ...(['honest', 'honest', 'honest', 'honest', 'late', 'silent'] as const),
  ...(['says so and sends nothing', 'sends and says no', 'sends nothing'] as const),
] as const
export type FacilitatorMood = (typeof facilitatorMoods)[number]

/** A challenge's terms, which its credential is bound to. */
export interface Bound {
  readonly dollars: string
  /** SHA-256 of the request, in hex. */
  readonly digest: string
  readonly meta: Readonly<Record<string, string>>
}

/** Signed by a payer, and known to the facilitator it is given to. */
export interface Credential {
  readonly transaction: SimTransaction
  readonly mood: FacilitatorMood
  readonly bound: Bound
}

/** The header that a credential comes in. */
export const CREDENTIAL = 'x-sim-credential'

const line = { latencyMs: [20, 900], tailMs: 15_000 } as const
const LOOKS_MAX = 8
const LOOK_MS = 500
/** A transfer that is brought late comes within its time still. */
const LATE_MS = 50_000

export interface SimMethodWorld {
  readonly kernel: Kernel
  readonly chain: SimChain
  readonly bugs: WholeBugs
  readonly credentials: ReadonlyMap<string, Credential>
  /** A version of before, which held what it did not know to have failed. */
  readonly isHasty: boolean
}

type Told = 'sent' | 'refused' | 'unsent' | 'unknown'

export class SimMethod implements PaymentMethod {
  readonly name = 'sim/charge'
  readonly #world: SimMethodWorld
  readonly #process: SimProcess
  readonly #nodes: readonly Ask[]
  readonly #clock: Clock

  constructor(world: SimMethodWorld, process: SimProcess, nodes: readonly Ask[], clock: Clock) {
    this.#world = world
    this.#process = process
    this.#nodes = nodes
    this.#clock = clock
  }

  offersOf(dollars: string) {
    return [{ intent: 'charge', method: 'sim', currency: TOKEN, amount: `${amountOf(dollars, 1, 6)}` }]
  }

  async challenge({ dollars, digest, meta }: RequestPrice): Promise<Challenge> {
    const bound: Bound = { dollars, digest: Buffer.from(digest).toString('hex'), meta }
    return { headers: {}, body: JSON.stringify(bound), contentType: 'application/json' }
  }

  presentedIn({ [CREDENTIAL]: credential }: IncomingHttpHeaders): string | null {
    return typeof credential === 'string' ? credential : null
  }

  metaIn(credential: string) {
    return this.#world.credentials.get(credential)?.bound.meta ?? {}
  }

  identityOf(credential: string) {
    return { identity: credential, digest: createHash('sha256').update(credential).digest() }
  }

  async check(credential: string, price: RequestPrice): Promise<CheckedPayment> {
    const signed = this.#world.credentials.get(credential)
    const { identity, digest: credentialDigest } = this.identityOf(credential)
    if (!signed) throw new PaymentRefusedError(new Error('nobody signed it'))
    const { from: payer, to: recipient, amount, txHash, validBeforeSeconds } = signed.transaction
    const isBound = signed.bound.digest === Buffer.from(price.digest).toString('hex')
    if (!isBound) throw new PaymentRefusedError(new Error('another request'))
    if (amount !== amountOf(price.dollars, 1, 6)) throw new PaymentRefusedError(new Error('another price'))
    if (recipient !== PAYEE) throw new PaymentRefusedError(new Error('another payee'))
    return {
      ...{ identity, credentialDigest, chainId: CHAIN_ID, currency: TOKEN, amount, recipient, payer },
      ...{ txHash, validBeforeSeconds, reference: null },
    }
  }

  async send(
    credential: string,
    _price: RequestPrice,
    payment: CheckedPayment,
  ): Promise<PaymentOutcome | Unsent> {
    const { bugs } = this.#world
    const told = await this.#facilitate(credential).catch((): Told => 'unknown')
    if (told === 'unsent') return { kind: 'unsent', problem: null }
    if (told === 'sent' && bugs.has('the facilitator’s word is taken for the chain’s'))
      return settledBy(payment)
    for (let looks = 1; ; looks++) {
      const outcome = await this.outcome(payment)
      if (outcome.kind !== 'unknown' || looks === LOOKS_MAX) return outcome
      await this.#clock.sleep(LOOK_MS)
    }
  }

  async outcome(payment: CheckedPayment): Promise<PaymentOutcome> {
    const { txHash, validBeforeSeconds } = payment
    const { bugs, chain, kernel, isHasty } = this.#world
    if (txHash === null) return { kind: 'unknown' }
    const isOne = bugs.has('one node alone says what became of a payment')
    const found = await lookForTx(isOne ? this.#nodes.slice(-1) : this.#nodes, { txHash, validBeforeSeconds })
    if (found.kind === 'mined' && found.succeeded) return settledBy(payment)
    if (found.kind === 'absent' || (found.kind === 'mined' && found.isFinal)) return { kind: 'failed' }
    const isHeldFailed = isHasty && chain.isTroubled && kernel.chance(0.1)
    return { kind: isHeldFailed ? 'failed' : 'unknown' }
  }

  readonly receiptHeaders = (receipt: string) => ({ 'payment-receipt': receipt })

  #facilitate(credential: string): Promise<Told> {
    const { kernel, chain, credentials } = this.#world
    const signed = credentials.get(credential)
    if (!signed) throw new Error('nobody signed it')
    const { transaction, mood } = signed
    return kernel.call(this.#process, `${this.#process.name} pays`, kernel.travel(line), () => {
      if (mood === 'sends nothing') return 'unsent'
      if (mood === 'says so and sends nothing') return 'sent'
      if (mood === 'late') kernel.after(kernel.between(5_000, LATE_MS), 'late', () => chain.send(transaction))
      else chain.send(transaction)
      if (mood === 'sends and says no') return 'refused'
      if (mood === 'silent') throw new Error('no answer in time')
      return 'sent'
    })
  }
}

const settledBy = ({ txHash }: CheckedPayment): PaymentOutcome => ({
  kind: 'settled',
  receipt: `of ${txHash}`,
  txHash,
})
