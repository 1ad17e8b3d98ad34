/**
 * Prices of whole plans. Sellers are asked together, under one deadline; until a quote is over the
 * same plan gets it again, so that no seller can be flooded through us.
 */
import type { Egress } from '#egress/egress.ts'
import { ApiError, type Problem } from '#http/errors.ts'
import type { Allowance } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import { SharedReads } from '#http/sharedReads.ts'
import { decimalText, multiplied } from '#money/amounts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { QuoteTerms } from '#wallet/currencies.ts'
import { canonicalHash, canonicalJson, NotCanonicalError } from '../plan/canonicalJson.ts'
import { type CheckedPlan, checkPlan, type PlannedNode, planInvalid } from '../plan/checkPlan.ts'
import type { Plan } from '../plan/plan.ts'
import { readServices } from '../plan/readServices.ts'
import { freePrice, type LivePrice, nothing, priceOf, silenceOf } from './livePrice.ts'
import { type Probe, probeOf } from './probe.ts'
import type { Quote } from './quoteResult.ts'

/** A caller waits for all sellers together. */
const DEADLINE_MS = 8_000
const VALID_MS_MAX = 300_000
/** Quotes held; one of 100 nodes has some 30 KB. */
const QUOTES_MAX = 1_000

export interface QuotesOptions {
  readonly app: AppDatabase
  readonly egress: Pick<Egress, 'fetch'>
  readonly clock: Clock
  /** Bounds the calls of sellers made for a caller. */
  readonly allowance: Allowance
  readonly terms: QuoteTerms
  /** Origins where this very program answers, for nothing. */
  readonly isOwn?: (origin: string) => boolean
}

/** A node with its price. */
interface PricedNode extends LivePrice {
  readonly planned: PlannedNode
  readonly input: Probe['input']
}

export class Quotes {
  readonly #options: QuotesOptions
  readonly #underWay = new SharedReads<Quote>()
  readonly #held: BoundedMap<string, Quote>

  constructor(options: QuotesOptions) {
    this.#options = options
    this.#held = new BoundedMap({ max: QUOTES_MAX, now: () => options.clock.now() })
  }

  /** @throws ApiError plan_invalid, quote_unavailable naming each node, rate_limit_exceeded */
  async quote(plan: Plan, caller: string, signal: AbortSignal): Promise<Quote> {
    const hash = hashOf(plan)
    const held = this.#held.get(hash)
    if (held) return held
    return this.#underWay.join(hash, signal, (together) => this.#ask(plan, hash, caller, together))
  }

  async #ask(plan: Plan, hash: string, caller: string, signal: AbortSignal): Promise<Quote> {
    const checked = checkPlan(plan, await readServices(this.#options.app, plan))
    const quotedMs = this.#options.clock.now()
    const priced = await this.#priceAll(checked.nodes, caller, signal)
    const ends = priced.flatMap(({ offer }) => offer?.expiresAt ?? [])
    const untilMs = Math.min(quotedMs + VALID_MS_MAX, ...ends)
    const quote = quoteOf(checked, priced, { hash, terms: this.#options.terms, quotedMs, untilMs })
    this.#held.set(hash, quote, untilMs)
    return quote
  }

  async #priceAll(
    nodes: readonly PlannedNode[],
    caller: string,
    signal: AbortSignal,
  ): Promise<readonly PricedNode[]> {
    const { isOwn = () => false, allowance } = this.#options
    const probes = nodes.map((planned) => {
      // Nobody needs to ask this program whether it is there, and a call from here would have rights.
      const probe = isOwn(planned.url.origin) ? null : probeOf(planned)
      return { planned, probe, key: canonicalJson(probe?.request ?? {}) }
    })
    const distinct = new Set(probes.filter(({ probe }) => probe).map(({ key }) => key))
    if (distinct.size > 0) await allowance(caller, distinct.size)
    // Equal calls have one price.
    const asked = new Map<string, Promise<LivePrice>>()
    const time = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)])
    const settled = await Promise.allSettled(
      probes.map(async ({ planned, probe, key }): Promise<PricedNode> => {
        if (!probe) return { planned, input: planned.takesOutputs ? 'example' : 'plan', ...nothing }
        const price = asked.get(key) ?? this.#price(planned, probe, time)
        asked.set(key, price)
        return { planned, input: probe.input, ...(await price) }
      }),
    )
    signal.throwIfAborted()
    const problems = settled.flatMap((each, index) =>
      each.status === 'rejected' ? [problemOf(each.reason, nodes[index], index)] : [],
    )
    if (problems.length > 0) throw unavailable(problems)
    return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  }

  async #price({ service }: PlannedNode, probe: Probe, signal: AbortSignal): Promise<LivePrice> {
    const { egress, clock, terms } = this.#options
    const answer = await egress.fetch({ ...probe.request, signal })
    const ask = { policy: service.recipientPolicy, terms, nowMs: clock.now() }
    return probe.isFree ? freePrice(answer, ask) : priceOf(answer, ask)
  }
}

function hashOf(plan: Plan): string {
  try {
    return canonicalHash(plan)
  } catch (error) {
    if (!(error instanceof NotCanonicalError)) throw error
    throw planInvalid([{ path: ['body', 'nodes'], message: error.message }])
  }
}

function problemOf(cause: unknown, planned: PlannedNode | undefined, index: number): Problem {
  const { message } = silenceOf(cause)
  const name = planned ? `${planned.node.serviceId} ${planned.endpoint.method} ${planned.node.path}` : ''
  return { path: ['body', 'nodes', index], message: `${planned?.node.id}: ${name} ${message}` }
}

function unavailable(problems: readonly Problem[]): ApiError {
  const [first] = problems
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see details)` : ''
  return new ApiError('quote_unavailable', `No price: ${first?.message}${more}.`, { details: problems })
}

interface QuoteFacts {
  readonly hash: string
  readonly terms: QuoteTerms
  readonly quotedMs: number
  readonly untilMs: number
}

function quoteOf({ stages }: CheckedPlan, priced: readonly PricedNode[], facts: QuoteFacts): Quote {
  const { hash, terms, quotedMs, untilMs } = facts
  const { currency, decimals, costMultiplier } = terms
  const net = priced.reduce((sum, { units }) => sum + units, 0n)
  const total = multiplied(net, costMultiplier)
  return {
    advisory: true,
    planHash: hash,
    currency,
    decimals,
    totalNetAmount: decimalText(net, decimals),
    totalNetAmountUnits: `${net}`,
    costMultiplier,
    totalAmount: decimalText(total, decimals),
    totalAmountUnits: `${total}`,
    dynamic: priced.some(isDynamic),
    stages: stages.map((stage) => [...stage]),
    nodes: priced.map(({ planned, units, offer, input }) => ({
      nodeId: planned.node.id,
      amount: decimalText(units, decimals),
      amountUnits: `${units}`,
      currency,
      decimals,
      ...endOf(offer),
      input,
      source: 'live' as const,
    })),
    quotedAt: dateText(quotedMs),
    validUntil: dateText(untilMs),
  }
}

/** What is asked again with the real input may cost something else. */
const isDynamic = ({ planned, input, units }: PricedNode): boolean =>
  planned.endpoint.paymentOffers.some(
    ({ dynamic, amount }) => dynamic === true || typeof amount !== 'string',
  ) ||
  (input === 'example' && units > 0n)

const endOf = (offer: LivePrice['offer']) =>
  offer === null || offer.expiresAt === null ? {} : { expiresAt: dateText(offer.expiresAt) }

const dateText = (ms: number): string => s.isoSeconds(ms / 1_000)
