/** A token as its own resource shows it. */

import * as s from '#http/schema.ts'
import type { TokenTotals } from '#store/follow/balances/totals.ts'
import type { TokenRow, TokenWants } from '#store/read/tokens.ts'
import { presentTokenSummary, tokenSummarySchema } from './token.ts'
import type { TokenName } from './tokenNames.ts'

/** Fields of a token that are shown on request only. */
export const tokenIncludes = [
  'admin',
  'createdAt',
  'holderCount',
  'quoteToken',
  'totalSupply',
  'transferStats',
] as const
export type TokenInclude = (typeof tokenIncludes)[number]

export const tokenSchema = s.named('Token', {
  ...tokenSummarySchema.properties,
  admin: s.optional(s.address),
  createdAt: s.optional(s.timestamp),
  quoteToken: s.optional(s.address),
  holderCount: s.optional(s.count),
  totalSupply: s.optional(s.amount),
  transferStats: s.optional(
    s.object({
      count: s.count,
      firstAt: s.nullable(s.timestamp),
      lastAt: s.nullable(s.timestamp),
    }),
  ),
})

/** The parts of a token to read for the fields asked for. */
export const wantsOf = (include: ReadonlySet<TokenInclude>): TokenWants => ({
  totals: include.has('holderCount') || include.has('totalSupply') || include.has('transferStats'),
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
  const { admin, createdAtSeconds, quoteToken, totals } = row
  return {
    ...presentTokenSummary(row.token, nameOf({ row, verified })),
    ...(include.has('admin') && admin !== null && { admin }),
    ...(include.has('createdAt') &&
      createdAtSeconds !== null && { createdAt: s.isoSeconds(createdAtSeconds) }),
    ...(include.has('quoteToken') && quoteToken !== null && { quoteToken }),
    ...(totals && presentTotals(totals, include)),
  }
}

/** A supply below zero, of a contract whose transfers make no sense, is none. */
function presentTotals(totals: TokenTotals, include: ReadonlySet<TokenInclude>) {
  const { holderCount, totalSupply, transferCount } = totals
  return {
    ...(include.has('holderCount') && holderCount !== null && { holderCount }),
    ...(include.has('totalSupply') && totalSupply >= 0n && { totalSupply: `${totalSupply}` }),
    ...(include.has('transferStats') && {
      transferStats: {
        count: transferCount,
        firstAt: momentOf(totals.firstTransferAtSeconds),
        lastAt: momentOf(totals.lastTransferAtSeconds),
      },
    }),
  }
}

const momentOf = (seconds: number | null): string | null => (seconds === null ? null : s.isoSeconds(seconds))

/** The part of a token that is shown beside amounts. */
export function nameOf({ row, verified }: Token): TokenName {
  const { name, symbol, currency, decimals, logoUri } = row
  return { name, symbol, currency, decimals, logoUri, verified }
}
