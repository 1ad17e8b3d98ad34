import type { HeaderRule } from './parts/header.ts'

/**
 * Chains whose blocks up to a height are of forks that this version knows, so that nothing in them
 * may be unknown. Those above may be of a later fork.
 */
export interface KnownChain {
  /** How headers hash as far as is known; it goes on past the last known height. */
  readonly headerRule: HeaderRule
  /** No header up to here has a field that is not known here. */
  readonly headersTo: number
  /** No transaction up to here has an envelope or a field that is not known here. */
  readonly envelopesTo: number
}

/**
 * Ethereum's are of after Fusaka, Sepolia's the last one before Amsterdam: since then a node may leave
 * out the slot. Hoodi has no such height: none was recomputed. Tempo's are the newest that were
 * recomputed with this program.
 */
const knownChains: ReadonlyMap<number, KnownChain> = new Map([
  [1, { headerRule: 'ethereum', headersTo: 24_000_000, envelopesTo: 24_000_000 }],
  [11_155_111, { headerRule: 'ethereum', headersTo: 11_856_336, envelopesTo: 11_856_336 }],
  [560_048, { headerRule: 'ethereum', headersTo: -1, envelopesTo: -1 }],
  [4_217, { headerRule: 'tempo', headersTo: 20_636_966, envelopesTo: -1 }],
  [42_431, { headerRule: 'tempo', headersTo: 6_000_178, envelopesTo: -1 }],
])

const unknownChain: KnownChain = { headerRule: 'unknown', headersTo: -1, envelopesTo: -1 }

/** A known chain, of which no rule is learned: all that Ethereum's blocks prove has to hold there. */
export const isKnownChain = (chainId: number): boolean => knownChains.has(chainId)

export const knownForksOf = (chainId: number): KnownChain => knownChains.get(chainId) ?? unknownChain
