/** `include=feeToken`: what is known of the tokens fees were paid in. */

import { presentTokenSummary, type TokenSummary } from '#present/token.ts'
import type { ReadServices } from '../../services.ts'

/** Finds the token of a row; undefined where it was not asked for, or has no name. */
export type FeeTokens = (token: string | null) => TokenSummary | undefined

/** Reads them for all rows of an answer at once; nothing unless the request includes `feeToken`. */
export async function readFeeTokens(
  { tokenNames }: ReadServices,
  { chainId, include, signal }: FeeTokenCall,
  tokens: readonly (string | null)[],
): Promise<FeeTokens> {
  const asked = include.has('feeToken')
    ? new Set(tokens.filter((token) => token !== null))
    : new Set<string>()
  if (asked.size === 0) return () => undefined
  const names = await tokenNames.read(chainId, [...asked], signal)
  return (token) => {
    const name = token === null ? undefined : names.get(token)
    return token === null || name === undefined ? undefined : presentTokenSummary(token, name)
  }
}

interface FeeTokenCall {
  readonly chainId: number
  readonly include: ReadonlySet<string>
  readonly signal: AbortSignal
}

/** A row and its fee's token. */
export interface WithFeeToken<Row> {
  readonly row: Row
  readonly feeToken: TokenSummary | undefined
}

/** The rows with their fees' tokens. */
export async function withFeeTokens<Row>(
  services: ReadServices,
  call: FeeTokenCall,
  rows: readonly Row[],
  tokenOf: (row: Row) => string | null,
): Promise<readonly WithFeeToken<Row>[]> {
  const feeTokens = await readFeeTokens(services, call, rows.map(tokenOf))
  return rows.map((row) => ({ row, feeToken: feeTokens(tokenOf(row)) }))
}
