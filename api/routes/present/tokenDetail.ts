/** A token as its own resource shows it. */
import type { TokenRow } from '#store/queries/tokens.ts'
import * as s from '../../http/schema.ts'
import type { TokenName } from '../services.ts'
import { presentTokenSummary, tokenSummarySchema } from './token.ts'

/** Fields of a token that are shown on request only. */
export const tokenIncludes = ['admin', 'createdAt', 'quoteToken'] as const
export type TokenInclude = (typeof tokenIncludes)[number]

export const tokenSchema = s.named('Token', {
  ...tokenSummarySchema.properties,
  admin: s.optional(s.address),
  createdAt: s.optional(s.timestamp),
  quoteToken: s.optional(s.address),
})

/** A token, and whether it is on the operator's list. */
export interface Token {
  readonly row: TokenRow
  readonly verified: boolean
}

export function presentToken(
  { row, verified }: Token,
  include: ReadonlySet<TokenInclude>,
): s.Static<typeof tokenSchema> {
  const { admin, createdAtSeconds, quoteToken } = row
  return {
    ...presentTokenSummary(row.token, nameOf({ row, verified })),
    ...(include.has('admin') && admin !== null && { admin }),
    ...(include.has('createdAt') &&
      createdAtSeconds !== null && { createdAt: s.isoSeconds(createdAtSeconds) }),
    ...(include.has('quoteToken') && quoteToken !== null && { quoteToken }),
  }
}

/** The part of a token that is shown beside amounts. */
export function nameOf({ row, verified }: Token): TokenName {
  const { name, symbol, currency, decimals, logoUri } = row
  return { name, symbol, currency, decimals, logoUri, verified }
}
