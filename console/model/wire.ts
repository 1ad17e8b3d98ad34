/**
 * The API's answers, as far as the console shows them. `test/console/wire.test.ts` holds it against the
 * API's schemas.
 */
import type { Engine } from '#primitives.ts'

export interface Range {
  readonly from: number
  readonly to: number
}

export interface StoreStatus {
  readonly tip: number | null
  readonly state: string
  readonly problem: string | null
  readonly coverage: readonly Range[]
}

export interface HistoryStatus {
  readonly blocksTotal: number
  readonly blocksDone: number
  readonly blocksPerSecond: number | null
  readonly etaSeconds: number | null
  readonly chunks: readonly { readonly from: number; readonly to: number; readonly tip: number | null }[]
}

export interface ChainStatus {
  readonly chainId: number
  readonly kind: string
  /** Whether the process asked writes the chain, or reads what another one writes. */
  readonly role: 'writer' | 'standby'
  /** A dev chain that the program makes up. */
  readonly isLocal: boolean
  readonly startBlock: number
  readonly head: number | null
  readonly finalized: number | null
  readonly finality: FinalityStatus
  readonly lagBlocks: number | null
  readonly stores: { readonly postgres: StoreStatus; readonly clickhouse: StoreStatus }
  readonly lanes: readonly {
    readonly name: string
    readonly state: string
    readonly problem: string | null
  }[]
  readonly history: HistoryStatus | null
  readonly parity: {
    readonly state: string
    readonly comparedBlocks: number
    readonly problem: string | null
  }
  readonly verification: {
    readonly checks: string
    readonly headerRule: string
    readonly unproved: readonly string[]
    readonly provedBlocks: number | null
    readonly unprovableBlocks: number | null
    readonly unprovableTxs: number | null
    /** Null where the audit is switched off. */
    readonly audit: {
      readonly state: string
      readonly comparedBlocks: number
      readonly problem: string | null
    } | null
  }
}

/** The basis of final blocks, and its newest certificate. */
export interface FinalityStatus {
  readonly rule: 'proved' | 'agreed'
  readonly certificateHeight: number | null
  readonly epoch: number | null
  /** Unix milliseconds at which a certificate was checked last. */
  readonly lastCheckedMs: number | null
  /** Endpoints that gave one at the last look. */
  readonly endpointsServing: number
  /** A key that its makers stated, and that was not seen signing here. */
  readonly statedKey: { readonly fromEpoch: number } | null
}

/** A problem that the owner must know. */
export interface Alarm {
  readonly chainId: number
  readonly code: string
  readonly problem: string
  readonly since: string
}

/** GET /status. */
export interface StatusReport {
  readonly version: string
  readonly ready: boolean
  readonly startedAt: string
  readonly alarms: readonly Alarm[]
  readonly chains: readonly ChainStatus[]
  readonly notes: readonly string[]
}

export interface RelationColumn {
  readonly name: string
  readonly type: string
  readonly comment: string
}

export interface Relation {
  readonly name: string
  readonly comment: string
  readonly sample: string
  readonly columns: readonly RelationColumn[]
}

export interface Example {
  readonly title: string
  readonly sql: string
}

/** GET /v1/indexer/schema. */
export interface IndexerSchema {
  readonly engine: Engine
  readonly relations: readonly Relation[]
  readonly functions: readonly string[]
  readonly events: readonly string[]
  readonly examples: readonly Example[]
}
