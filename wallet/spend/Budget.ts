/**
 * The wallet's purchases if it bought now: by the same choice as a purchase, on a chain that a node answers
 * for, within what it has and what its limits leave.
 */
import { larger, rescaled, smaller } from '#money/amounts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { readReserved, sumReserved } from '#rows/jobs/reservations.ts'
import {
  type LimitName,
  limitOf,
  readWallet,
  reserveJob,
  type WalletLimits,
  type WalletState,
} from '#rows/jobs/wallet.ts'
import { type DaySum, readDaySums } from '#rows/jobs/walletDays.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import { balanceOf } from '../balance.ts'
import type { BudgetedCall, Obstacle, SoldCall, SoldJob, WalletBudget } from '../budget.ts'
import { type QuoteTerms, tokenKey } from '../currencies.ts'
import { askAny, type PayChain } from '../payChain.ts'
import type { Paying } from '../paying.ts'
import { payableBy } from './choosePayable.ts'

export interface BudgetOptions {
  readonly app: AppDatabase
  readonly address: `0x${string}`
  readonly paying: readonly Paying[]
  readonly chains: readonly PayChain[]
  readonly terms: QuoteTerms
  readonly limits: WalletLimits
  /** False until it is known whether the database has forgotten what left the wallet on a chain. */
  readonly mayPay: (chainId: number) => boolean
  readonly clock: Clock
}

/** A balance is asked for again after this: plans that are priced together ask once. */
const BALANCE_MS = 2_000
/** A caller waits for it, as long as for sellers. */
const ANSWER_MS = 8_000
/** The first look at a chain after a start takes about so long. */
const LOOK_MS = 2_000
/** Tokens at par of all chains. */
const BALANCES_MAX = 100

/** Why calls are not bought, and which of them. */
interface Reason {
  readonly message: string
  readonly retryAfterMs?: number | null
  readonly of?: (call: BudgetedCall) => boolean
}

export class Budget implements WalletBudget {
  readonly #options: BudgetOptions
  readonly #balances: BoundedMap<string, Promise<bigint | null | 'silent'>>

  constructor(options: BudgetOptions) {
    this.#options = options
    this.#balances = new BoundedMap({ max: BALANCES_MAX, now: () => options.clock.now() })
  }

  payable(answer: Parameters<WalletBudget['payable']>[0]): ReturnType<WalletBudget['payable']> {
    return payableBy(this.#options.paying, answer)
  }

  async obstacles(calls: readonly BudgetedCall[]): Promise<readonly Obstacle[]> {
    if (calls.length === 0) return []
    const state = await readWallet(this.#options.app)
    const reasons = [
      ...this.#standing(state, calls),
      ...(await this.#lacking(calls)),
      ...(await this.#limited(state, calls)),
    ]
    return calls.flatMap((call) => {
      const reason = reasons.find(({ of = () => true }) => of(call))
      if (!reason) return []
      return [{ nodeId: call.nodeId, message: reason.message, retryAfterMs: reason.retryAfterMs ?? null }]
    })
  }

  async reserve(
    transaction: AppDatabase,
    { jobId, paymentId, payer, calls }: SoldJob,
  ): ReturnType<WalletBudget['reserve']> {
    const { limits, chains, mayPay } = this.#options
    const known = calls.flatMap(({ offered }) => offered?.offer.network ?? [])
    if (chains.some((chain) => known.includes(networkOf(chain)) && !mayPay(chain.chainId)))
      return { message: waitingFor }
    if (this.#isTooDear(calls)) return { message: tooDear }
    const parts = this.#worstOf(calls).map(({ call: { serviceId, offered }, units }) => ({
      ...{ serviceId, units, payee: offered?.offer.recipient ?? null },
    }))
    const reserved = await reserveJob(transaction, { jobId, paymentId, payer, parts }, limits)
    switch (reserved.kind) {
      case 'reserved':
        return null
      case 'paused':
        return { message: paused }
      case 'frozen':
        return { message: searching }
      case 'limited':
        return { message: usedUp(reserved.limit) }
    }
  }

  /** Money that does not leave, whatever there is of it. */
  #standing({ isPaused, isKnown }: WalletState, calls: readonly BudgetedCall[]): readonly Reason[] {
    if (isPaused) return [{ message: paused }]
    if (!isKnown) return [{ message: searching }]
    const { chains, mayPay } = this.#options
    const waiting = chains.filter(({ chainId }) => !mayPay(chainId)).map(networkOf)
    const isWaiting = ({ offered: { offer } }: BudgetedCall) => waiting.includes(offer.network)
    return calls.some(isWaiting) ? [{ message: waitingFor, retryAfterMs: LOOK_MS, of: isWaiting }] : []
  }

  /** Tokens of which jobs under way leave too little, and chains that do not say. */
  async #lacking(calls: readonly BudgetedCall[]): Promise<readonly Reason[]> {
    const { app, terms } = this.#options
    const reserved = await sumReserved(app)
    const byToken = Map.groupBy(calls, ({ offered: { offer } }) => tokenKey(offer.network, offer.token))
    const looked = await Promise.all(
      [...byToken].map(async ([key, of]): Promise<Reason[]> => {
        const [first] = of
        if (!first) return []
        const { network, token } = first.offered.offer
        const balance = await this.#balanceOf(network, token)
        const isOf = (call: BudgetedCall) => of.includes(call)
        if (balance === 'silent')
          return [{ message: `is paid on ${network}, where no node answers`, of: isOf }]
        const decimals = terms.atPar.get(key) ?? terms.decimals
        const needed = neededOf(of, decimals, terms) + rescaled(reserved, terms.decimals, decimals)
        if (balance !== null && balance >= needed) return []
        return [{ message: 'is not bought now: the wallet has too little of the token', of: isOf }]
      }),
    )
    return looked.flat()
  }

  #balanceOf(network: string, token: string): Promise<bigint | null | 'silent'> {
    const { chains, clock } = this.#options
    const key = tokenKey(network, token)
    const held = this.#balances.get(key)
    if (held) return held
    const chain = chains.find((each) => networkOf(each) === network)
    const asked = chain ? this.#ask(chain, token) : Promise.resolve('silent' as const)
    this.#balances.set(key, asked, clock.now() + BALANCE_MS)
    return asked
  }

  async #ask(chain: PayChain, token: string): Promise<bigint | null | 'silent'> {
    const { address, clock } = this.#options
    const over = new AbortController()
    const late = clock.sleep(ANSWER_MS, over.signal).then(() => 'silent' as const)
    const told = balanceOf(askAny(chain), token, address).catch(() => 'silent' as const)
    return Promise.race([told, late]).finally(() => over.abort())
  }

  async #limited(
    { day, dayLeftMs }: WalletState,
    calls: readonly BudgetedCall[],
  ): Promise<readonly Reason[]> {
    const { app, limits } = this.#options
    if (this.#isTooDear(calls)) return [{ message: tooDear }]
    const places = placesOf(this.#worstOf(calls))
    const sums = await readDaySums(app, day, places)
    const reservedFor = await readReserved(app, day)
    return places.flatMap((place, index): Reason[] => {
      const spent = sums[index]?.units ?? 0n
      const [limit, needed] = [limitOf(place, limits), sumOf(place.parts)]
      if (spent + reservedFor(place) + needed <= limit) return []
      // The reserve that jobs under way do not spend is free before the day is over.
      const isSpent = needed <= limit && spent + needed > limit
      const of = (call: BudgetedCall) => place.parts.some((part) => part.call === call)
      return [{ message: usedUp(place.kind), retryAfterMs: isSpent ? dayLeftMs : null, of }]
    })
  }

  /** A job may not spend its prices with the stated fees, and the bound of a fee beside them. */
  #isTooDear(calls: readonly SoldCall[]): boolean {
    const rise = calls.reduce((most, call) => larger(most, this.#riseOf(call)), 0n)
    return pricesOf(calls) + rise > this.#options.limits.jobUnits
  }

  /** Calls with their stated fees, and with the highest as far as a job may spend. */
  #worstOf<Call extends SoldCall>(calls: readonly Call[]): readonly Worst<Call>[] {
    let left = this.#options.limits.jobUnits - pricesOf(calls)
    return calls.map((call) => {
      const kept = smaller(this.#riseOf(call), left)
      left -= kept
      return { call, units: call.units + call.statedFeeUnits + kept }
    })
  }

  /** The most by which a fee may exceed the stated one. */
  #riseOf(call: SoldCall): bigint {
    return larger(this.#feeOf(call) - call.statedFeeUnits, 0n)
  }

  #feeOf({ offered }: SoldCall): bigint {
    if (offered) return offered.feeUnits
    return this.#options.paying.reduce((most, { feeUnitsMax }) => larger(most, feeUnitsMax), 0n)
  }
}

/** A call, and the most that it may cost. */
interface Worst<Call> {
  readonly call: Call
  readonly units: bigint
}

const paused = 'is not bought now: the wallet is paused by its operator'
const tooDear = 'is of a plan that costs more than the wallet spends on one'
const searching = 'is not bought now: the wallet looks for what was paid before its database was restored'
const waitingFor = 'is not bought now: the wallet looks for what left it on the chain before'

const spentOn = {
  all: '',
  day: '',
  job: ' for one job',
  service: ' at this service',
  payee: ' at this payee',
  payer: ' for jobs of one payer',
}

/** The limit of a sum is reached. */
const usedUp = (of: DaySum['kind'] | LimitName): string =>
  `is not bought today: what the wallet spends on a day${spentOn[of]} is used up`

const networkOf = ({ chainId }: PayChain): string => `eip155:${chainId}`

const sumOf = (of: readonly { readonly units: bigint }[]): bigint =>
  of.reduce((sum, { units }) => sum + units, 0n)

/** Prices, fees included. */
const pricesOf = (calls: readonly SoldCall[]): bigint =>
  calls.reduce((sum, { units, statedFeeUnits }) => sum + units + statedFeeUnits, 0n)

/** The prices and stated fees, and the highest bound of a fee, which one payment at a time has to have. */
function neededOf(calls: readonly BudgetedCall[], decimals: number, terms: QuoteTerms): bigint {
  const stated = calls.reduce((sum, { statedFeeUnits }) => sum + statedFeeUnits, 0n)
  const rise = calls.reduce(
    (most, { offered }) => larger(most, offered.feeUnits - offered.statedFeeUnits),
    0n,
  )
  const amount = calls.reduce((sum, { offered }) => sum + offered.offer.amount, 0n)
  return amount + rescaled(stated + rise, terms.decimals, decimals)
}

/** The sums that calls count in. */
function placesOf(parts: readonly Worst<BudgetedCall>[]) {
  const services = Map.groupBy(parts, ({ call }) => call.serviceId)
  const payees = Map.groupBy(parts, ({ call }) => call.offered.offer.recipient)
  return [
    { kind: 'all' as const, subject: '', parts },
    ...[...services].map(([subject, of]) => ({ kind: 'service' as const, subject, parts: of })),
    ...[...payees].map(([subject, of]) => ({ kind: 'payee' as const, subject, parts: of })),
  ]
}
