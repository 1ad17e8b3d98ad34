/** The facts of a chain that decoding needs: which rules its headers, fees and transactions follow. */
import { type Loose, type LoosePart, nothingLoose } from '#ingest/read/looseParts.ts'
import { isKnownChain, knownForksOf } from '#ingest/verify/knownChains.ts'
import type { HeaderRule } from '#ingest/verify/parts/header.ts'
import type { SenderSample } from '#ingest/verify/senders/senderSample.ts'
import { newestKnownFork } from './forks.ts'

/**
 * `tempo`: type 0x76 transactions, fees paid in tokens by a closing Transfer. `evm`: everything
 * else; fees in native wei.
 */
export type ChainKind = 'tempo' | 'evm'

/**
 * `roots`: header hash, transactionsRoot, receiptsRoot and bloom are recomputed. `links`: counts,
 * indexes and parent links only, for replays whose roots cannot hold.
 */
export type Checks = 'roots' | 'links'

/**
 * Found by recomputing blocks of the chain. It travels with each range: a chain that changes its
 * rules is decoded by new ones without a restart.
 */
export interface ChainProfile {
  readonly chainId: number
  readonly kind: ChainKind
  readonly headerRule: HeaderRule
  readonly checks: Checks
  /** The parts that blocks of this chain do not prove, learned from several of them; absent, none. */
  readonly loose?: readonly LoosePart[]
  /**
   * The parts that were loose for a while, by one endpoint's word: our archive may hold blocks of that
   * time.
   */
  readonly dropped?: readonly LoosePart[]
  /**
   * Since when a fork may be active that this version does not know, in Unix seconds; absent, since
   * never. Headers of blocks from then on need not hash by the known rule.
   */
  readonly unknownForkFrom?: number
  /**
   * The transactions whose senders are recovered besides the roots; absent, none: what comes from
   * our own archive was checked when it came.
   */
  readonly senders?: SenderSample
}

/** The rules of what our own archive holds: it was looked at by those in force when it came. */
export function archiveProfile(profile: ChainProfile): ChainProfile {
  const { chainId, loose = [], dropped = [] } = profile
  if (dropped.length > 0) return { ...profile, loose: [...loose, ...dropped], checks: 'links' }
  // A fork may have been told when a block came, and no longer be.
  return isKnownChain(chainId) ? { ...profile, unknownForkFrom: newestKnownFork(chainId) } : profile
}

/** On a chain whose forks are known everything has to hold, whatever was learned. */
export function looseOf({ chainId, loose = [] }: Pick<ChainProfile, 'chainId' | 'loose'>): Loose {
  return isKnownChain(chainId) ? nothingLoose : new Set([...loose, 'lists'])
}

/**
 * How headers of a block of that time hash, and whether one that does not is a mark instead of a
 * lie. On a chain whose forks are known its rule goes on, also where its newest blocks follow none.
 */
export function headerRuleAt(
  { chainId, headerRule, unknownForkFrom = Number.POSITIVE_INFINITY }: ChainProfile,
  timestampSeconds: number,
): { readonly headerRule: HeaderRule; readonly isOpen: boolean } {
  if (headerRule === 'unknown') return { headerRule: knownForksOf(chainId).headerRule, isOpen: true }
  return { headerRule, isOpen: timestampSeconds >= unknownForkFrom }
}
