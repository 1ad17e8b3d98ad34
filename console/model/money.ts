/** Money as the operator's endpoints tell it, and exactly as its page shows it. */
import { decimalOf } from './decimal.ts'
import { readResource } from './indexerClient.ts'
import type { Alarm } from './wire.ts'

/** GET /v1/operator/money. Dollars are decimal text. */
export interface Money {
  /** Null where there is none. */
  readonly wallet: Wallet | null
  /** Null where something is sold. */
  readonly sellingProblem: string | null
  readonly payouts: { readonly pause: { readonly reason: string; readonly since: string } | null }
  /** Null where the program does not look at the books. */
  readonly books: BooksLook | null
}

export interface Wallet {
  readonly address: string
  /** Since when; null where it pays. */
  readonly paused: string | null
  readonly pauseReason: string | null
  readonly awaitsReconciliation: boolean
  readonly balances: readonly {
    readonly chainId: number
    readonly token: string
    readonly amount: string | null
  }[]
  /** UTC, as 2026-11-26. */
  readonly day: string
  readonly limits: Readonly<Record<'job' | 'day' | 'service' | 'payee' | 'payer', string>>
  readonly left: string
  readonly reserved: string
  readonly held: string
  readonly spent: readonly WalletSpent[]
}

export interface WalletSpent {
  readonly kind: 'all' | 'service' | 'payee' | 'payer'
  readonly subject: string
  readonly dollars: string
}

export interface BooksLook {
  readonly lookedAt: string | null
  readonly chainsAskedAt: string | null
  readonly differing: number
  readonly unchecked: readonly string[]
}

export interface Amount {
  /** In the currency's smallest unit. */
  readonly amount: string
  /** Null where nobody knows. */
  readonly decimals: number | null
}

interface Owned extends Amount {
  readonly chainId: number
  readonly currency: string
}

export interface Payment extends Owned {
  readonly id: string
  readonly state: 'claimed' | 'sending' | 'settled' | 'failed' | 'reversed'
  readonly method: string
  readonly scope: string
  readonly payer: string
  readonly transactionHash: string | null
  readonly isAnswered: boolean
  readonly isOwed: boolean
  readonly claimedAt: string
  readonly settledAt: string | null
}

export type PayoutState = 'queued' | 'sending' | 'paid' | 'withdrawn'

export interface Payout extends Owned {
  readonly id: string
  readonly kind: 'refund' | 'reward'
  readonly state: PayoutState
  readonly to: string
  readonly reference: string
  readonly problem: string | null
  readonly sentWith: string | null
  readonly collectUntil: string | null
  readonly transactionHash: string | null
  readonly queuedAt: string
  readonly paidAt: string | null
}

export interface ListedReview {
  readonly jobId: string
  readonly payer: string
  readonly rating: number
  readonly comment: string | null
  readonly isProved: boolean
  readonly reason: string | null
  readonly reward: (Owned & { readonly state: PayoutState }) | null
  readonly reviewedAt: string
}

const moneyKinds = ['payment', 'reversed', 'refund', 'reward', 'cost', 'fee'] as const
export type MoneyKind = (typeof moneyKinds)[number]

export interface MoneyLine extends Owned {
  readonly day: string
  readonly kind: MoneyKind
  readonly count: number
}

export interface MoneyDays {
  readonly from: string
  readonly to: string
  readonly lines: readonly MoneyLine[]
}

export interface MoneyPage<Item> {
  readonly data: readonly Item[]
  readonly nextCursor: string | null
}

/** Asks with the key that the page holds. */
export class MoneyClient {
  readonly #origin: string

  constructor(origin: string) {
    this.#origin = origin
  }

  /** @throws RequestFailure 401, 403 for others than the operator */
  money(signal: AbortSignal): Promise<Money> {
    return readResource(this.#origin, 'v1/operator/money', signal)
  }

  days(days: number, signal: AbortSignal): Promise<MoneyDays> {
    return readResource(this.#origin, `v1/operator/days?days=${days}`, signal)
  }

  page<Item>(
    name: 'payments' | 'payouts' | 'reviews',
    asked: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<MoneyPage<Item>> {
    return readResource(this.#origin, `v1/operator/${name}?${new URLSearchParams(asked)}`, signal)
  }
}

/** With all of its digits: `1,234.5`, or `7 units` where nobody knows the decimals. */
export function amountText({ amount, decimals }: Amount): string {
  const isNegative = amount.startsWith('-')
  const digits = isNegative ? amount.slice(1) : amount
  const text = decimals === null ? grouped(digits) : grouped(decimalOf(digits, decimals))
  return `${isNegative ? '−' : ''}${text}${decimals === null ? ' units' : ''}`
}

/** A decimal text with its thousands told apart. */
export function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.')
  const told = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? told : `${told}.${fraction}`
}

interface Scaled {
  readonly units: bigint
  readonly decimals: number
}

/** A decimal text as a whole number of its last place. */
function scaledOf(decimal: string): Scaled {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return { units: BigInt(`${whole}${fraction}`), decimals: fraction.length }
}

const rescaled = ({ units, decimals }: Scaled, to: number): bigint => units * 10n ** BigInt(to - decimals)

/** Thousandths of the whole, from 0 to 1,000: enough for a bar. */
export function permille(part: string, whole: string): number {
  const [a, b] = [scaledOf(part), scaledOf(whole)]
  const decimals = Math.max(a.decimals, b.decimals)
  const [of, all] = [rescaled(a, decimals), rescaled(b, decimals)]
  if (all <= 0n) return of > 0n ? 1_000 : 0
  const share = (of * 1_000n) / all
  return Number(share < 0n ? 0n : share > 1_000n ? 1_000n : share)
}

/** Income and cost of one day, or several: dollars in units of `decimals`. */
export interface Totals {
  readonly income: bigint
  /** Not negative. */
  readonly cost: bigint
}

export interface DayTotals extends Totals {
  readonly day: string
}

export interface Ledger {
  /** Each from the first to the last, also those on which nothing moved. */
  readonly days: readonly DayTotals[]
  readonly all: Totals
  readonly byKind: readonly { readonly kind: MoneyKind; readonly amount: bigint; readonly count: number }[]
  readonly decimals: number
  /** Lines of tokens whose decimals nobody knows: in no sum. */
  readonly unknown: readonly MoneyLine[]
}

const income: ReadonlySet<MoneyKind> = new Set(['payment', 'reversed'])

/** Sums what moved. Each currency is worth a dollar. */
export function ledgerOf({ from, to, lines }: MoneyDays): Ledger {
  const unknown = lines.filter((line) => line.decimals === null)
  const decimals = Math.max(0, ...lines.map((line) => line.decimals ?? 0))
  const known = lines.flatMap((line) =>
    line.decimals === null
      ? []
      : [{ ...line, units: rescaled({ units: BigInt(line.amount), decimals: line.decimals }, decimals) }],
  )
  const totalsOf = (among: typeof known): Totals => ({
    income: sum(among.filter(({ kind }) => income.has(kind))),
    cost: -sum(among.filter(({ kind }) => !income.has(kind))),
  })
  const byDay = Map.groupBy(known, ({ day }) => day)
  return {
    days: daysBetween(from, to).map((day) => ({ day, ...totalsOf(byDay.get(day) ?? []) })),
    all: totalsOf(known),
    byKind: moneyKinds.flatMap((kind) => {
      const of = known.filter((line) => line.kind === kind)
      if (of.length === 0) return []
      return [{ kind, amount: sum(of), count: of.reduce((all, { count }) => all + count, 0) }]
    }),
    ...{ decimals, unknown },
  }
}

const sum = (lines: readonly { readonly units: bigint }[]): bigint =>
  lines.reduce((all, { units }) => all + units, 0n)

const DAY_MS = 24 * 3_600_000
/** More than the API tells. */
const DAYS_MAX = 400

/** Both inclusive, as 2026-11-26. */
export function daysBetween(from: string, to: string): readonly string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)]
  const count = Math.min(DAYS_MAX, Math.floor((last - first) / DAY_MS) + 1)
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    new Date(first + index * DAY_MS).toISOString().slice(0, 10),
  )
}

/** Heights of a day's two bars, in thousandths of the highest one. */
export interface DayBars {
  readonly day: string
  readonly up: number
  readonly down: number
}

export function barsOf({ days }: Pick<Ledger, 'days'>): readonly DayBars[] {
  const highest = days.reduce((most, day) => larger(most, larger(day.income, day.cost)), 0n)
  const height = (units: bigint) =>
    highest === 0n || units <= 0n ? 0 : Number((units * 1_000n) / highest) || 1
  return days.map(({ day, income: up, cost: down }) => ({ day, up: height(up), down: height(down) }))
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** A person's word for a scope. */
export const scopeText = (scope: string): string => scopeWords.get(scope) ?? scope

const scopeWords = new Map([
  ['data:read', 'reads'],
  ['indexer:query', 'SQL'],
  ['jobs', 'job'],
  ['webhooks:write', 'webhook'],
])

/** Why a refund or reward is not paid; empty where nothing holds it. */
export function waitText({ state, problem, sentWith, collectUntil }: Payout): string {
  if (state === 'paid' || state === 'withdrawn') return sentWith === null ? '' : `sent with ${sentWith}`
  if (problem !== null) return problem
  if (sentWith !== null) return `goes with ${sentWith}`
  if (collectUntil !== null) return `small: waits until ${collectUntil} for others to the same account`
  return state === 'sending' ? 'sent, not final yet' : 'next in the queue'
}

/** Codes of alarms that are about money. */
const moneyCodes: ReadonlySet<string> = new Set([
  ...['wallet_low', 'spend_unknown', 'payments_stopped', 'settlement_unknown', 'channels_unsettled'],
  ...['payment_reversed', 'payment_differs', 'payouts_waiting', 'payouts_large'],
  ...['books_differ', 'books_unchecked'],
])

export const moneyAlarms = (alarms: readonly Alarm[]): readonly Alarm[] =>
  alarms.filter(({ code }) => moneyCodes.has(code))
