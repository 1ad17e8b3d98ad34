/** The library's stores of transactions whose outcome is not known, by the digests of signatures. */
import type { PendingSettlementStore } from '@x402/core/facilitator'
import type { AppDatabase } from '#rows/database.ts'
import { readMark, writeMark } from '#rows/payments/marks.ts'
import { findNoted, noteTransaction } from '#rows/payments/namedPayments.ts'
import { signatureDigest } from './authorization.ts'

/** Those of payments: their own rows. */
export const pendingSettlements = (app: AppDatabase): PendingSettlementStore => ({
  get: async (signature) => (await findNoted(app, signatureDigest(signature))) ?? undefined,
  set: (signature, txHash) => noteTransaction(app, signatureDigest(signature), txHash),
  // A payment that has ended says so by its state.
  delete: async () => {},
})

/** Those of payouts: marks, for longer than an authorization lasts. */
export const pendingPayouts = (app: AppDatabase): PendingSettlementStore => {
  const keyOf = (signature: string) => `x402-payout/${signatureDigest(signature).toString('hex')}`
  return {
    get: async (signature) => {
      const txHash = await readMark(app, keyOf(signature))
      return typeof txHash === 'string' ? txHash : undefined
    },
    set: (signature, txHash) => writeMark(app, keyOf(signature), txHash),
    delete: async () => {},
  }
}
