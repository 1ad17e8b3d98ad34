/** The outcome of a spend: asked of the chain, and written down once it is known. */
import type { AppDatabase } from '#rows/database.ts'
import { type Spend, settleSpend, voidSpend } from '#rows/jobs/spends.ts'
import type { QuoteTerms } from '../currencies.ts'
import type { Paying } from '../paying.ts'
import { feeIn, unitsOf } from './purchased.ts'

export interface LookingFor {
  readonly app: AppDatabase
  readonly paying: readonly Paying[]
  readonly terms: QuoteTerms
}

export type SpendFate =
  | { readonly kind: 'settled'; readonly txHash: string }
  /** It was not paid, and cannot be any more. */
  | { readonly kind: 'failed' }
  /** `reference`: what the chain will know it by. */
  | { readonly kind: 'unknown'; readonly reference: string }

export async function lookForSpend({ app, paying, terms }: LookingFor, spend: Spend): Promise<SpendFate> {
  const { id, state, reference, txHash } = spend
  if (state === 'void' || reference === null) return { kind: 'failed' }
  if (state === 'settled') return { kind: 'settled', txHash: txHash ?? reference }
  const protocol = paying.find((one) => one.protocol === spend.protocol)
  const outcome = await protocol?.outcome({ ...spend, reference })
  if (outcome?.kind === 'settled') {
    const fee = feeIn(outcome.fee, spend.chainId, terms)
    await settleSpend(app, id, { txHash: outcome.txHash, units: unitsOf(spend, terms), fee })
    return { kind: 'settled', txHash: outcome.txHash }
  }
  if (outcome?.kind !== 'failed') return { kind: 'unknown', reference: txHash ?? reference }
  await voidSpend(app, id, { from: 'sending', fee: feeIn(outcome.fee, spend.chainId, terms) })
  return { kind: 'failed' }
}
