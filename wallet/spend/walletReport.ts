/** The wallet as its operator is told of it: balances, the day's spends, and what is left. */
import { decimalText } from '#money/amounts.ts'
import { lowercased } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import { readReserved } from '#rows/jobs/reservations.ts'
import { sumOpenSpends } from '#rows/jobs/spends.ts'
import { readWallet, type WalletLimits } from '#rows/jobs/wallet.ts'
import { type BudgetKind, type DaySum, readDay } from '#rows/jobs/walletDays.ts'
import { findPause } from '#rows/payments/pauses.ts'
import type { QuoteTerms } from '../currencies.ts'
import type { Balance } from './WalletWatch.ts'

/** Dollars are decimal text. */
export interface WalletReport {
  /** Lowercase. */
  readonly address: string
  /** ISO 8601; null where it pays. */
  readonly paused: string | null
  readonly pauseReason: string | null
  /** The database was restored: nothing is paid until what it does not know has ended. */
  readonly awaitsReconciliation: boolean
  readonly balances: readonly {
    readonly chainId: number
    readonly token: string
    /** Null where no node answers, or there is no such token. */
    readonly amount: string | null
  }[]
  /** Worst case of payments that are under way. */
  readonly reserved: string
  /** Jobs that were sold today may still spend it. */
  readonly held: string
  /** UTC, as 2026-11-26. */
  readonly day: string
  /** The day's limit less what is spent and held. */
  readonly left: string
  /** The largest sums of the day, that of all together first. */
  readonly spent: readonly {
    readonly kind: BudgetKind
    readonly subject: string
    readonly dollars: string
  }[]
  readonly limits: Readonly<Record<'job' | 'day' | 'service' | 'payee' | 'payer', string>>
}

export interface WalletReported {
  readonly app: AppDatabase
  readonly address: string
  readonly terms: QuoteTerms
  readonly limits: WalletLimits
}

export async function readWalletReport(
  { app, address, terms, limits }: WalletReported,
  balances: readonly Balance[],
): Promise<WalletReport> {
  const state = await readWallet(app)
  const [paused, sums, open, reservedFor] = await Promise.all([
    findPause(app, 'wallet'),
    readDay(app, state.day),
    sumOpenSpends(app),
    readReserved(app, state.day),
  ])
  const dollars = (units: bigint) => decimalText(units, terms.decimals)
  const held = reservedFor({ kind: 'all', subject: '' })
  return {
    address: lowercased(address),
    paused: paused?.pausedAt.toISOString() ?? null,
    pauseReason: paused?.reason ?? null,
    awaitsReconciliation: !state.isKnown,
    balances: balances.map(({ chainId, token, decimals, amount }) => ({
      ...{ chainId, token, amount: amount === null ? null : decimalText(amount, decimals) },
    })),
    reserved: dollars(open.reduce((sum, { units }) => sum + units, 0n)),
    held: dollars(held),
    day: state.day,
    left: dollars(leftOf(limits.dayUnits, sums, held)),
    spent: sums.map(({ kind, subject, units }) => ({ kind, subject, dollars: dollars(units) })),
    limits: {
      job: dollars(limits.jobUnits),
      day: dollars(limits.dayUnits),
      service: dollars(limits.serviceUnits),
      payee: dollars(limits.payeeUnits),
      payer: dollars(limits.payerUnits),
    },
  }
}

/** Payments under way are in the sums of the day; what jobs hold beside them is not. */
function leftOf(limit: bigint, sums: readonly DaySum[], held: bigint): bigint {
  const spent = sums.find(({ kind }) => kind === 'all')?.units ?? 0n
  const left = limit - spent - held
  return left > 0n ? left : 0n
}
