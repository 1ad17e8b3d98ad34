/** The part of a chain that its conditions are found in. */
import type { FinalityProblem } from '#ingest/finality/watch/FinalityWatch.ts'

interface Saying {
  readonly state: string
  readonly problem: string | null
}

/** The part of a chain that is looked at. */
export interface WatchedChain {
  /** `tip`: newest block held; -1 for none. */
  readonly state: { readonly chainId: number; readonly tip: number }
  readonly profile: { readonly headerRule: string; readonly checks: string }
  readonly audit: Saying | null
  readonly headStatus: Saying
  readonly historyStatus: Saying
  readonly clickhouseStatus: Saying
  readonly storeProblem: string | null
  /** The data taken lately on the word of one endpoint alone, or null. */
  readonly unproved: string | null
  /** Which forks are active or near that this version does not know, or null. */
  readonly forks: { readonly problem: string | null }
  /** Which endpoints have granted far different blocks to be final for long, or null. */
  readonly nodes: {
    readonly finalityHeld: string | null
  }
  /** The problems of the certificates of its finality. */
  readonly certificates: { readonly problems: readonly FinalityProblem[] }
  /** Why the calls of JSON-RPC clients get no answers or old ones, or null. */
  readonly relay: { readonly problem: string | null }
  readonly followers: readonly (Saying & {
    readonly name: string
    readonly found: { readonly differs: string | null } | null
  })[]
}

export interface Watched extends WatchedChain {
  /** Why the head is taken to stand still, or null. */
  readonly stall: string | null
}
