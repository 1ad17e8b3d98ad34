/** A settlement beside the transfer that its transaction made. */
import type { Payment } from '#rows/payments/payments.ts'
import type { FinalTransaction } from '#store/read/payments/settlements.ts'

/** A final transaction's verdict on a payment; the problem in words. */
export type Verdict = { readonly kind: 'confirmed' } | { readonly kind: 'differs'; readonly problem: string }

/** Amount, currency, payer and recipient, all of one transfer. */
export function verdictOn(
  { amount, currency, payer, recipient }: Pick<Payment, 'amount' | 'currency' | 'payer' | 'recipient'>,
  { succeeded, transfers }: FinalTransaction,
): Verdict {
  if (!succeeded) return { kind: 'differs', problem: 'its transaction was reverted' }
  const received = transfers.filter(({ to, token }) => to === recipient && token === currency)
  const isThere = received.some((transfer) => transfer.amount === amount && transfer.from === payer)
  if (isThere) return { kind: 'confirmed' }
  const others = received.map((transfer) => `${transfer.amount} of ${transfer.from}`).join(', ')
  return {
    kind: 'differs',
    problem: `its transaction moved ${others || 'nothing'} to the payee, not ${amount} of ${payer}`,
  }
}
