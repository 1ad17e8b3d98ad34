/**
 * A quote inside of its challenge: what was asked for is charged by any process, whatever the
 * sellers have said since. The challenge proves it, since its id is a code over all that it holds.
 */
import { randomBytes } from 'node:crypto'
import { decimalText } from '#money/amounts.ts'
import type { JobTerms } from '#rows/jobs/orders.ts'
import type { JobRequest } from './readJobRequest.ts'

const SALT_BYTES = 12

type Meta = Readonly<Record<string, string>>

/**
 * By name, as the challenge is bound to it. With salt: challenges of one moment would be one, which
 * one of those who asked could pay.
 */
export const sealed = (terms: JobTerms, { planHash, idempotencyKey }: JobRequest): Meta => ({
  salt: randomBytes(SALT_BYTES).toString('base64url'),
  planHash,
  key: idempotencyKey,
  terms: [terms.currency, terms.decimals, terms.costMultiplier, terms.totalAmountUnits].join(' '),
  // In the order of the plan.
  units: terms.nodes.map(({ amountUnits }) => amountUnits).join(' '),
})

/** Without what the payment's method adds. */
export const ownMeta = ({ salt = '', planHash = '', key = '', terms = '', units = '' }: Meta): Meta => ({
  ...{ salt, planHash, key, terms, units },
})

const digits = /^\d{1,78}$/

/** Null where the challenge was none of this plan and key. */
export function unsealed(meta: Meta, { planHash, idempotencyKey, plan }: JobRequest): JobTerms | null {
  if (meta['planHash'] !== planHash || meta['key'] !== idempotencyKey) return null
  const [currency, decimals, costMultiplier, total] = meta['terms']?.split(' ') ?? []
  const units = meta['units']?.split(' ') ?? []
  if (currency === undefined || costMultiplier === undefined || total === undefined) return null
  if (units.length !== plan.nodes.length || ![total, ...units].every((text) => digits.test(text))) return null
  return {
    ...{ currency, decimals: Number(decimals), costMultiplier, totalAmountUnits: total },
    nodes: plan.nodes.map(({ id: nodeId }, place) => ({ nodeId, amountUnits: units[place] ?? '0' })),
  }
}

/** The whole price, as decimal text. */
export const totalOf = ({ totalAmountUnits, decimals }: JobTerms): string =>
  decimalText(BigInt(totalAmountUnits), decimals)
