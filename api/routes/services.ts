/** What the routes work with; main.ts puts it together. */
import type { ChainId, Hash } from '#primitives.ts'
import type { ChainState } from '#store/chainState.ts'
import type { Postgres } from '#store/postgres.ts'
import type { ChainKind } from '#transform/profile.ts'

/** One chain, as reads see it. */
export interface ChainReads {
  readonly chainId: ChainId
  readonly kind: ChainKind
  readonly postgres: Postgres
  readonly state: ChainState
  readonly node: NodeReader
}

/** The few things that only a node knows. */
export interface NodeReader {
  /**
   * The node's own payload of a transaction, pending ones too; null when it knows none.
   * @throws a MillraceError with remedy `retry` when no node answers
   */
  transaction(hash: Hash, signal: AbortSignal): Promise<Readonly<Record<string, unknown>> | null>
}

/** Services of everything that reads chain data. */
export interface ReadServices {
  readonly chains: ReadonlyMap<ChainId, ChainReads>
}

/** The chain of a request; the toolkit has checked that it is served. */
export function readsOf({ chains }: ReadServices, chainId: ChainId): ChainReads {
  const reads = chains.get(chainId)
  if (!reads) throw new Error(`chain ${chainId} is served but has no services`)
  return reads
}
