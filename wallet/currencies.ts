import { PATH_USD } from '#primitives.ts'

/**
 * The currency that prices are told in, and the tokens that count as much: a price in any other is none
 * that we could pay.
 */
export interface QuoteTerms {
  readonly currency: string
  readonly decimals: number
  /** Decimal text: what a job costs is what its calls cost, times this. */
  readonly costMultiplier: string
  /** Decimals of the tokens at par, by `tokenKey`. */
  readonly atPar: ReadonlyMap<string, number>
}

/** Name of a token: its chain as CAIP-2 has it, and its address. */
export const tokenKey = (network: string, address: string): string => `${network}:${address.toLowerCase()}`

/** Lowercase addresses of the tokens at par on a chain, with their decimals. */
export const tokensAtPar = ({ atPar }: QuoteTerms, chainId: number): readonly (readonly [string, number])[] =>
  [...atPar].flatMap(([key, decimals]) => {
    const network = `eip155:${chainId}:`
    return key.startsWith(network) ? [[key.slice(network.length), decimals] as const] : []
  })

/** Tokens at par where nothing is configured: pathUSD and USDC.e of Tempo, USDC of Base. */
export const parTokensDefault = [
  `eip155:4217:${PATH_USD}:6`,
  'eip155:4217:0x20c000000000000000000000b9537d11c60e8b50:6',
  'eip155:8453:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913:6',
] as const

/** `<chain>:<token>:<decimals>`, the chain as CAIP-2 names it. */
export const PAR_TOKEN_PATTERN = '^eip155:[1-9][0-9]{0,15}:0x[0-9a-fA-F]{40}:([0-9]|[12][0-9]|3[0-6])$'
/** Digits enough for any margin, and few enough to be exact. */
export const MULTIPLIER_PATTERN = '^[0-9]{1,4}(\\.[0-9]{1,6})?$'

/** @throws TypeError for what does not fit the patterns */
export function quoteTerms(costMultiplier: string, parTokens: readonly string[]): QuoteTerms {
  const atPar = parTokens.map((text) => {
    if (!new RegExp(PAR_TOKEN_PATTERN).test(text)) throw new TypeError(`not a token at par: ${text}`)
    const end = text.lastIndexOf(':')
    return [text.slice(0, end).toLowerCase(), Number(text.slice(end + 1))] as const
  })
  if (!new RegExp(MULTIPLIER_PATTERN).test(costMultiplier))
    throw new TypeError(`not a multiplier: ${costMultiplier}`)
  return { currency: 'USDC', decimals: 6, costMultiplier, atPar: new Map(atPar) }
}

/** The demo's sellers are paid in pathUSD of the dev chain, which has no other takers. */
export const besideDevChain = (terms: QuoteTerms, chainId: number | null): QuoteTerms =>
  chainId === null
    ? terms
    : { ...terms, atPar: new Map([...terms.atPar, [tokenKey(`eip155:${chainId}`, PATH_USD), 6]]) }
