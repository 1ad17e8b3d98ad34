/** The library's store of transactions whose outcome is not known: the payments' own rows. */
import type { PendingSettlementStore } from '@x402/core/facilitator'
import type { AppDatabase } from '#rows/database.ts'
import { findNoted, noteTransaction } from '#rows/payments/namedPayments.ts'
import { signatureDigest } from './authorization.ts'

/** Keys are signatures, which are stored nowhere. */
export const pendingSettlements = (app: AppDatabase): PendingSettlementStore => ({
  get: async (signature) => (await findNoted(app, signatureDigest(signature))) ?? undefined,
  set: (signature, txHash) => noteTransaction(app, signatureDigest(signature), txHash),
  // A payment that has ended says so by its state.
  delete: async () => {},
})
