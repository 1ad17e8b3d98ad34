/**
 * Prices of whole plans. Sellers are asked together, under one deadline; until a quote is over the
 * same plan gets it again, so that no seller can be flooded through us. What the wallet would not
 * buy now has no price.
 */
import type { Egress, EgressAnswer } from '#egress/Egress.ts'
import { ApiError, type RequestProblem } from '#http/errors.ts'
import type { Allowance } from '#http/request/access.ts'
import { SharedReads } from '#http/SharedReads.ts'
import * as s from '#http/schema.ts'
import { decimalText, multiplied } from '#money/amounts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { BudgetedCall, Obstacle, WalletBudget } from '#wallet/budget.ts'
import type { QuoteTerms } from '#wallet/currencies.ts'
import { liveOffers } from '#wallet/liveOffers.ts'
import { canonicalJson } from '../plan/canonicalJson.ts'
import { type CheckedPlan, checkPlan, type PlannedNode } from '../plan/checkPlan.ts'
import type { Plan } from '../plan/plan.ts'
import { planHash } from '../plan/planHash.ts'
import { readServices } from '../plan/readServices.ts'
import { freePrice, type LivePrice, livePriceOf, nothing, silenceOf } from './livePrice.ts'
import { type Probe, probeOf } from './probe.ts'
import type { Quote } from './quoteResult.ts'
import { assertSold } from './suspended.ts'
import { sentenceOf, summaryOf, unavailable } from './unavailable.ts'

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
  /** The wallet's budget; absent if nothing is bought, and prices are what sellers ask. */
  readonly budget?: WalletBudget | null
  /** Origins where this very program answers, for nothing. */
  readonly isOwn?: (origin: string) => boolean
}

/** A node with its price. */
interface PricedNode extends LivePrice {
  readonly planned: PlannedNode
  readonly input: Probe['input']
}

/** A quote, and what the wallet would pay for it. */
interface Quoted {
  readonly quote: Quote
  readonly calls: readonly BudgetedCall[]
}

export class Quotes {
  readonly #options: QuotesOptions
  readonly #underWay = new SharedReads<Quoted>()
  readonly #held: BoundedMap<string, Quoted>

  constructor(options: QuotesOptions) {
    this.#options = options
    this.#held = new BoundedMap({ max: QUOTES_MAX, now: () => options.clock.now() })
  }

  /**
   * @param carried nodes that have their outputs, and cost nothing
   * @throws ApiError plan_invalid, quote_unavailable naming each node, rate_limit_exceeded
   */
  async quote(plan: Plan, caller: string, signal: AbortSignal, carried: Carried = []): Promise<Quote> {
    const key = keyOf(planHash(plan), carried)
    const ask = (together: AbortSignal) => this.#ask(plan, carried, caller, together)
    const held = this.#held.get(key)
    if (held) await assertSold(this.#options.app, plan, carried)
    const quoted = held ?? (await this.#underWay.join(key, signal, ask))
    const obstacles = (await this.#options.budget?.obstacles(quoted.calls)) ?? []
    if (obstacles.length > 0) throw new PlanUnbuyableError(plan, obstacles)
    return quoted.quote
  }

  /** The wallet's price of each call of a plan; null if no quote of it is held here. */
  pricedCalls(planHash: string, carried: Carried = []): readonly BudgetedCall[] | null {
    return this.#held.get(keyOf(planHash, carried))?.calls ?? null
  }

  async #ask(plan: Plan, carried: Carried, caller: string, signal: AbortSignal): Promise<Quoted> {
    const hash = planHash(plan)
    const checked = checkPlan(plan, await readServices(this.#options.app, plan))
    await assertSold(this.#options.app, plan, carried)
    const quotedMs = this.#options.clock.now()
    const priced = await this.#priceAll(checked.nodes, new Set(carried), caller, signal)
    const ends = priced.flatMap(({ offered }) => offered?.offer.expiresAt ?? [])
    const untilMs = Math.min(quotedMs + VALID_MS_MAX, ...ends)
    const quote = quoteOf(checked, priced, { hash, terms: this.#options.terms, quotedMs, untilMs })
    const quoted = { quote, calls: priced.flatMap(callOf) }
    this.#held.set(keyOf(hash, carried), quoted, untilMs)
    return quoted
  }

  async #priceAll(
    nodes: readonly PlannedNode[],
    carried: ReadonlySet<string>,
    caller: string,
    signal: AbortSignal,
  ): Promise<readonly PricedNode[]> {
    const { isOwn = () => false, allowance } = this.#options
    const probes = nodes.map((planned) => {
      // Nobody needs to ask this program whether it is there, and a call from here would have rights.
      const isAsked = !carried.has(planned.node.id) && !isOwn(planned.url.origin)
      const probe = isAsked ? probeOf(planned) : null
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
    const { egress, clock, terms, budget } = this.#options
    const answer = await egress.fetch({ ...probe.request, signal })
    const payable = budget
      ? (told: EgressAnswer) => budget.payable(told)
      : (told: EgressAnswer) => offersOf(told, clock.now())
    const ask = { policy: service.recipientPolicy, terms, payable }
    return probe.isFree ? freePrice(answer, ask) : livePriceOf(answer, ask)
  }
}

/** Ids of nodes, in the order of the plan. */
type Carried = readonly string[]

const keyOf = (planHash: string, carried: Carried): string => [planHash, ...carried].join(' ')

/** As if all that can be read could be paid, and without fees. */
const offersOf = async (answer: EgressAnswer, nowMs: number) =>
  (await liveOffers(answer, nowMs)).map((offer) => ({ offer, feeUnits: 0n, statedFeeUnits: 0n }))

function callOf({ planned: { node }, units, offered }: PricedNode): readonly BudgetedCall[] {
  if (!offered) return []
  const { id: nodeId, serviceId } = node
  return [{ nodeId, serviceId, units, statedFeeUnits: offered.statedFeeUnits, offered }]
}

const problemOf = (cause: unknown, planned: PlannedNode | undefined, index: number): RequestProblem => ({
  path: ['body', 'nodes', index],
  message: sentenceOf(planned?.node, silenceOf(cause).message),
})

/** The wallet would not buy the plan now, whatever its sellers ask. */
export class PlanUnbuyableError extends ApiError {
  /** A list of each node's problems, without a word on prices. */
  readonly summary: string

  constructor({ nodes }: Plan, obstacles: readonly Obstacle[]) {
    const problems = nodes.flatMap((node, index): RequestProblem[] => {
      const found = obstacles.find(({ nodeId }) => nodeId === node.id)
      return found ? [{ path: ['body', 'nodes', index], message: sentenceOf(node, found.message) }] : []
    })
    const summary = summaryOf(problems)
    const headers = retryHeaders(obstacles)
    super('quote_unavailable', `No price: ${summary}.`, { details: problems, headers })
    this.summary = summary
  }
}

/** The time when all of them are over, if it is known. */
function retryHeaders(obstacles: readonly Obstacle[]): Readonly<Record<string, string>> {
  const times = obstacles.map(({ retryAfterMs }) => retryAfterMs)
  const known = times.filter((ms) => ms !== null)
  if (known.length < times.length) return {}
  return { 'Retry-After': `${Math.ceil(Math.max(...known) / 1_000)}` }
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
  const fees = priced.reduce((sum, { offered }) => sum + (offered?.statedFeeUnits ?? 0n), 0n)
  const total = multiplied(net, costMultiplier) + fees
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
    nodes: priced.map(({ planned, units, offered, input }) => ({
      nodeId: planned.node.id,
      amount: decimalText(units, decimals),
      amountUnits: `${units}`,
      currency,
      decimals,
      ...endOf(offered),
      input,
      source: 'live' as const,
    })),
    quotedAt: dateText(quotedMs),
    validUntil: dateText(untilMs),
  }
}

/** A price that is asked again with the real input may differ. */
const isDynamic = ({ planned, input, units }: PricedNode): boolean =>
  planned.endpoint.paymentOffers.some(
    ({ dynamic, amount }) => dynamic === true || typeof amount !== 'string',
  ) ||
  (input === 'example' && units > 0n)

function endOf(offered: LivePrice['offered']) {
  const { expiresAt = null } = offered?.offer ?? {}
  return expiresAt === null ? {} : { expiresAt: dateText(expiresAt) }
}

const dateText = (ms: number): string => s.isoSeconds(ms / 1_000)
