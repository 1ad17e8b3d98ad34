/** Alarms of payments, payouts and the books. */
import type { DoubtfulPayments } from '#rows/payments/proofs.ts'
import type { Alarm, AlarmKind } from '../part.ts'

interface PaymentFindings extends DoubtfulPayments {
  /** Entries, rows and transfers that differ, on whatever chain. */
  readonly books: number
  /** Chains that the books could not be compared with. */
  readonly unchecked: number
}

/** An alarm that counts. */
interface CountedKind extends AlarmKind {
  readonly counts: keyof PaymentFindings
  /** Behind the number. */
  readonly says: string
}

/** A node that does not answer the books at one look, an hour apart, does at the next. */
const UNCHECKED_MS = 2 * 3_600_000

const countedKinds: readonly CountedKind[] = [
  {
    ...{ code: 'payment_reversed', passesMs: 0, counts: 'reversed' },
    says: 'payments of the last day were taken back by the chain',
  },
  {
    ...{ code: 'payment_differs', passesMs: 0, counts: 'differing' },
    says: 'payments of the last day are not what the chain has: `millrace payments audit`',
  },
  {
    ...{ code: 'books_differ', passesMs: 0, counts: 'books' },
    says: 'entries, rows or transfers of money differ: `millrace books check`',
  },
  {
    ...{ code: 'books_unchecked', passesMs: UNCHECKED_MS, counts: 'unchecked' },
    says: 'chains did not tell what the books are compared with: `millrace books check`',
  },
  {
    ...{ code: 'settlement_unknown', passesMs: 0, counts: 'unknown' },
    says: 'payments were sent more than a minute ago, and nobody knows whether they settled',
  },
  {
    ...{ code: 'payouts_waiting', passesMs: 0, counts: 'waiting' },
    says: 'refunds or rewards wait for more than ten minutes: `millrace payments refunds`',
  },
  {
    ...{ code: 'payouts_large', passesMs: 0, counts: 'large' },
    says: 'refunds or rewards are above the budget of a day: one a day is sent',
  },
  {
    ...{ code: 'payments_stopped', passesMs: 0, counts: 'stopped' },
    says: 'of payouts and wallet stand, as the database may not know what was sent: `millrace wallet resume`',
  },
]

export const paymentKinds: readonly AlarmKind[] = [
  ...countedKinds,
  { code: 'channels_unsettled', passesMs: 0 },
]

/** @param unsettled why payment channels on the chain cannot be settled; null where they can */
export function paymentAlarms(
  chainId: number,
  findings: PaymentFindings,
  unsettled: string | null,
): readonly Alarm[] {
  const counted = countedKinds.flatMap(({ code, counts, says }): Alarm[] =>
    findings[counts] > 0 ? [{ chainId, code, problem: `${findings[counts]} ${says}` }] : [],
  )
  if (unsettled === null) return counted
  return [...counted, { chainId, code: 'channels_unsettled', problem: unsettled }]
}
