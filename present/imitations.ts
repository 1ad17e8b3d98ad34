/**
 * Feeds never name a token like a verified one: anybody can make a token, call it so, and send it
 * to everybody.
 */
import { skeletonOf } from '#text/skeleton.ts'
import type { KnownToken } from './token.ts'
import type { TokenName, TokenNames } from './tokenNames.ts'

interface NameServices {
  /** The verified tokens of each chain. */
  readonly curatedTokens: { of(chainId: number): readonly { readonly address: string }[] }
  readonly tokenNames: TokenNames
}

/**
 * The names of tokens; one that looks like a verified token's name or symbol is left out, with the
 * logo.
 */
export async function readPlainNames(
  services: NameServices,
  chainId: number,
  tokens: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, KnownToken>> {
  const names = await services.tokenNames.read(chainId, tokens, signal)
  if (names.values().every(({ verified }) => verified)) return names
  const verified = await readVerifiedLooks(services, chainId, signal)
  const plain = ({ name, symbol, logoUri, ...token }: TokenName): KnownToken =>
    !token.verified && looksOf({ name, symbol }).some((look) => verified.has(look))
      ? token
      : { ...token, name, symbol, logoUri }
  return new Map([...names].map(([address, token]) => [address, plain(token)]))
}

/**
 * Characters of a name that are looked at, of those that are seen: a longer one is like no name on
 * a list, and one character may stand for eighteen.
 */
const SEEN_CHARACTERS_MAX = 64

const unseen = /[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** A name of signs alone has no look. */
const looksOf = ({ name, symbol }: Pick<TokenName, 'name' | 'symbol'>): readonly string[] =>
  [name, symbol]
    .map((text) => skeletonOf(text.replaceAll(unseen, '').slice(0, SEEN_CHARACTERS_MAX)))
    .filter((look) => look !== '')

/**
 * Looks of each chain's verified tokens, of those that have a name: names never change. As many as
 * the operator's list has.
 */
const verifiedLooks = new WeakMap<TokenNames, Map<number, Map<string, readonly string[]>>>()

async function readVerifiedLooks(
  { curatedTokens, tokenNames }: NameServices,
  chainId: number,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const ofChains = verifiedLooks.getOrInsertComputed(tokenNames, () => new Map())
  const held = ofChains.getOrInsertComputed(chainId, () => new Map())
  const curated = curatedTokens.of(chainId).map(({ address }) => address)
  const missing = curated.filter((token) => !held.has(token))
  if (missing.length > 0)
    for (const [token, name] of await tokenNames.read(chainId, missing, signal))
      held.set(token, looksOf(name))
  return new Set(curated.flatMap((token) => held.get(token) ?? []))
}
