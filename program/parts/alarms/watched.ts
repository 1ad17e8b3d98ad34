/** What of a chain its conditions are found in. */
import type { FinalityProblem } from '#ingest/finality/watch/FinalityWatch.ts'
import type { ParityStatus } from '#store/compare/ParityWatch.ts'
import type { PaymentFindings } from '../payments/paymentsPart.ts'

interface Saying {
  readonly state: string
  readonly problem: string | null
}

/** What of a chain is looked at. */
export interface WatchedChain {
  /** `tip`: newest block held; -1 for none. */
  readonly state: { readonly chainId: number; readonly tip: number }
  readonly profile: { readonly headerRule: string; readonly checks: string }
  readonly audit: Saying | null
  readonly headStatus: Saying
  readonly historyStatus: Saying
  readonly clickhouseStatus: Saying
  readonly storeProblem: string | null
  /** What was taken lately on the word of one endpoint alone, or null. */
  readonly unproved: string | null
  /** Which forks are active or near that this version does not know, or null. */
  readonly forks: { readonly problem: string | null }
  /** Which endpoints have granted far different blocks to be final for long, or null. */
  readonly nodes: {
    readonly finalityHeld: string | null
  }
  /** What is wrong with the certificates of its finality. */
  readonly certificates: { readonly problems: readonly FinalityProblem[] }
  /** Why the calls of JSON-RPC clients get no answers or old ones, or null. */
  readonly relay: { readonly problem: string | null }
  readonly followers: readonly (Saying & {
    readonly name: string
    readonly found: { readonly differs: string | null } | null
  })[]
}

export interface Watched extends WatchedChain {
  readonly parity: Pick<ParityStatus, 'state' | 'problem'>
  /** Why the head is taken to stand still, or null. */
  readonly stall: string | null
  /** Streams of webhooks, and why one does not move; none where there are no webhooks. */
  readonly webhooks: readonly StreamProblem[]
  /** Payments on the chain that an operator should look at; null where none are taken on it. */
  readonly payments: PaymentFindings | null
  /** Why payment channels cannot be settled, or null. */
  readonly channels: string | null
}

export interface StreamProblem {
  readonly stream: string
  readonly problem: string | null
}
