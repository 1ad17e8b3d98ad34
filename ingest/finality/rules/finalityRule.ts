import type { BlockRef } from '#primitives.ts'
import type { CertifiedBlocks, ChainHead } from '../../source.ts'

/** The final block, and whose word that is. */
export interface GrantedFinality {
  /** Newest height that is final. */
  readonly finalized: number
  /** The block that it was concluded from: the final block, or a head above it. */
  readonly finalizedBy: BlockRef
  /** Name of the endpoint that told it. */
  readonly endpoint: string
}

/** How it is decided what is final on a chain. */
export interface FinalityRule {
  /** `proved`: by a certificate of the chain; `agreed`: by the word of two endpoints, or of the only one. */
  readonly name: 'proved' | 'agreed'
  readonly granted: GrantedFinality | null
  /** Newest finalized height, or -1. It decreases only where a word that it rests on was refuted. */
  readonly number: number
  /** Absent where endpoints alone decide. */
  readonly certified?: CertifiedBlocks
  /** Why less is final than might be, in words; null while that is usual. */
  readonly held: string | null
  /**
   * The endpoints were asked for their heads.
   * @param silent endpoints that have no say, since all were asked last
   * @param askedSinceMs what was said then counts always: a process may have been paused since
   */
  conclude(silent: ReadonlySet<string>, askedSinceMs: number): void
  /**
   * An answer of this endpoint was refuted: what was concluded from its word alone is concluded
   * again.
   */
  doubt(endpoint: string): void
}

/** Whether what was told of finality is granted still, and by the same rule. */
export function isGranted(
  { granted, name }: Pick<FinalityRule, 'name' | 'granted'>,
  { finalized, isProved = false }: Pick<ChainHead, 'finalized' | 'isProved'>,
): boolean {
  return granted !== null && granted.finalized >= finalized && isProved === (name === 'proved')
}
