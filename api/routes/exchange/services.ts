/** The common parts of the exchange's endpoints. */

import type { ErrorCode } from '#http/errors.ts'
import * as p from '#http/request/parameter.ts'
import { type Names, noNames } from '#present/exchange.ts'
import type { PairTokens } from '#store/read/exchange/exchangeChain.ts'
import type { TokenServices } from '../tokens/tokens.ts'

export type ExchangeServices = TokenServices

/** The base token of a pair; its other token is what it is quoted in. */
export const base = p.described(
  p.address,
  'Base token: 0x and 40 hex characters, in any case.',
  'pair_invalid',
)

export const errors: readonly ErrorCode[] = ['projection_incomplete', 'coverage_incomplete']

/** Names of the pairs' tokens, where they were asked for. */
export function readNames(
  { tokenNames }: ExchangeServices,
  { chainId, include, signal }: { chainId: number; include: ReadonlySet<string>; signal: AbortSignal },
  pairs: readonly Pick<PairTokens, 'base' | 'quote'>[],
): Promise<Names> {
  if (!include.has('tokens')) return Promise.resolve(noNames)
  const tokens = new Set(pairs.flatMap(({ base, quote }) => [base, quote]))
  return tokenNames.read(chainId, [...tokens], signal)
}
